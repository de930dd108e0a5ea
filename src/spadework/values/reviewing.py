"""What an editor finds weak in a report, and what becomes of it."""

from __future__ import annotations

from spadework.values.telling import Section
from spadework.values.value import Value


class Weakness(Value):
    """A weakness of a report. It goes back to the writer of its `section`; where `query` is named,
    that is searched first, for `topic`. `outcome` says what became of it.
    """

    text: str
    section: str = ""
    topic: str = ""
    query: str = ""
    outcome: str = ""


class Review(Value):
    """What an editor thinks of a report, as it stood with these `sections` and so many entries in
    the ledger. `done`: what was asked for has been tried, and the report stands.
    """

    verdict: str
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[Weakness, ...] = ()
    sections: tuple[Section, ...] = ()
    entries: int = 0
    done: bool = False

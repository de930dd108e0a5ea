"""How an entry of the ledger is told to a model that writes or judges: the quote with all that
shows what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass

from spadework.tools.urls import domain_of
from spadework.values import Evidence


@dataclass(frozen=True)
class Entry:
    """An entry of the ledger as it stands in a prompt; "" is what is not known."""

    id: str
    quote: str
    title: str = ""
    heading: str = ""
    domain: str = ""
    author: str = ""
    date: str = ""
    before: str = ""
    after: str = ""
    claim: str = ""

    @property
    def about(self) -> str:
        """The page of the quote in one line: title, heading, author, host and date."""
        parts = (self.title, self.heading, self.author, self.domain, self.date)
        return " · ".join(" ".join(part.split()) for part in parts if part)


def entry_of(evidence: Evidence) -> Entry:
    """An entry with all that is known of it."""
    date = evidence.published_at.date().isoformat() if evidence.published_at else ""
    heading = "" if evidence.heading == evidence.title else evidence.heading
    return Entry(
        id=evidence.id,
        quote=evidence.quote,
        title=evidence.title,
        heading=heading,
        domain=domain_of(evidence.url),
        author=evidence.author,
        date=date,
        before=evidence.before,
        after=evidence.after,
        claim=evidence.claim,
    )

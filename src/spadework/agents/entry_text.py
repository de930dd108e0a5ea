"""How an entry of the ledger is told to a model that writes or judges: the quote with all that
shows what it is about.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spadework.tools.web.urls import domain_of
from spadework.values import Evidence


class Entry(NamedTuple):
    """An entry of the ledger as it stands in a prompt: its page in one line (`about`), its quote
    between the sentences around it, and what who read it says of it (`claim`); "" is what is not
    known.
    """

    id: str
    about: str
    quote: str
    before: str = ""
    after: str = ""
    claim: str = ""


def entry_of(evidence: Evidence) -> Entry:
    """An entry with all that is known of it: title, heading, author, host and date."""
    date = evidence.published_at.date().isoformat() if evidence.published_at else ""
    heading, url = below(evidence.title, evidence.heading), evidence.url
    # Of a document of a library the path, which often names it.
    local = url.startswith("library://")
    place = url.removeprefix("library://") if local else domain_of(url)
    about = page_line(evidence.title, heading, evidence.author, place, date)
    return Entry(
        evidence.id, about, evidence.quote, evidence.before, evidence.after, evidence.claim
    )


def entries_of(evidence: Sequence[Evidence]) -> list[Entry]:
    """Entries side by side: a sentence around one that is an entry itself is told once."""
    quotes = {" ".join(e.quote.split()) for e in evidence}
    made = []
    for entry in map(entry_of, evidence):
        before = "" if " ".join(entry.before.split()) in quotes else entry.before
        after = "" if " ".join(entry.after.split()) in quotes else entry.after
        made.append(entry._replace(before=before, after=after))
    return made


def below(title: str, heading: str) -> str:
    """The path of headings below the title of their page, which is most often the first of it."""
    return "" if heading == title else heading.removeprefix(f"{title} > ")


def page_line(*parts: str) -> str:
    """What is known of a page in one line."""
    return " · ".join(" ".join(part.split()) for part in parts if part)

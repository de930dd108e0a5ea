"""The ledger as an outline sees it: each entry once, in a line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from textwrap import shorten

from spadework.agents.entry_text import below
from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import stems
from spadework.values import Evidence

#: Characters of an entry of the ledger in its line.
LINE_CHARS = 220
#: And of how code begins.
CODE_CHARS = 100


def speaks_of(evidence: Evidence, must: str) -> bool:
    """Whether an entry holds all content words of what must be covered."""
    code = spoken(must)
    said = stems(f"{evidence.title} {evidence.heading} {evidence.claim} {evidence.quote}", code)
    return stems(must, code) <= said


def place_of(evidence: Evidence) -> tuple[str, int, int]:
    """Where a quote stands: the page, and from where to where."""
    return evidence.content_hash, evidence.start, evidence.end


def each_once(ledger: Sequence[Evidence]) -> list[Evidence]:
    """The entries of a ledger, those that several topics quote once, with what is said of them for
    each.
    """
    claims: dict[tuple[str, int, int], dict[str, None]] = defaultdict(dict)
    for e in ledger:
        claims[place_of(e)] |= {e.claim: None} if e.claim else {}
    first = {place_of(e): e for e in reversed(ledger)}
    return [
        e.model_copy(update={"claim": " / ".join(claims[place])})
        for place, e in reversed(first.items())
    ]


def line_of(evidence: Evidence) -> str:
    """An entry in a line: what it says, of code also how it begins, where, when."""
    quote = " ".join(evidence.quote.split())
    said = evidence.claim or shorten(quote, LINE_CHARS, placeholder="…")
    if evidence.kind == "code":
        begins = f": {shorten(quote, CODE_CHARS, placeholder='…')}" if evidence.claim else ""
        said = f"(code) {said}{begins}"
    date = evidence.published_at.date().isoformat() if evidence.published_at else ""
    about = (said, evidence.title, below(evidence.title, evidence.heading), date)
    return f"{evidence.id} · " + " · ".join(part for part in about if part)

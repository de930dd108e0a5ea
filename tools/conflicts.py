"""Evidence that disagrees: two origins say nearly the same of the same thing, but with other numbers, other dates, or a denial."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import combinations

from spadework.tools.facts import months, negated, numbers, stems
from spadework.tools.inline import plain
from spadework.values import Conflict, Evidence, Side

#: Share of the content words, of the shorter statement, that two statements must share to be about the same thing.
SAME = 0.6
#: A denial turns little else of a sentence, so statements that differ by one must share more.
SAME_BUT_DENIED = 0.75
LEAST_SHARED = 2

_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DIGIT = re.compile(r"\d")


def conflicts(ledger: Sequence[Evidence]) -> list[Conflict]:
    """The disagreements inside each topic between quotes of independent origins, each pair of quotes once."""
    found = []
    seen: set[tuple[str, str]] = set()
    for one, other in combinations([e for e in ledger if e.kind != "code"], 2):
        pair = (one.quote, other.quote)
        if one.topic != other.topic or (one.origin == other.origin and one.content_hash == other.content_hash) or pair in seen:
            continue
        if kind := disagreement(plain(one.quote), plain(other.quote)):
            seen.add(pair)
            sides = tuple(Side(claim=" ".join(plain(e.quote).split()), evidence_ids=(e.id,), weight=0.5) for e in (one, other))
            found.append(Conflict(topic=one.topic, kind=kind, sides=sides))
    return found


def disagreement(one: str, other: str) -> str:
    """How two statements disagree: "date", "number", "negation", or "" when they do not or speak of different things."""
    a, b = _words(one), _words(other)
    shared = len(a & b)
    least = min(len(a), len(b))
    if shared < LEAST_SHARED or shared < SAME * least:
        return ""
    x, y = numbers(one), numbers(other)
    if x and y and x != y and not (x < y or y < x):
        changed = (x ^ y) - {""}
        dates = all(n.startswith("m") or _YEAR.fullmatch(n) for n in changed) or bool(months(one) and months(other) and x & y)
        return "date" if dates else "number"
    if negated(one) != negated(other) and shared >= SAME_BUT_DENIED * max(len(a), len(b)):
        return "negation"
    return ""


def _words(text: str) -> set[str]:
    return {word for word in stems(text) if not _DIGIT.search(word)}

"""Evidence that disagrees: two origins say nearly the same of the same thing, but with other numbers, other dates, or a denial."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Literal

from spadework.tools.facts import months, negated, numbers, stems
from spadework.tools.inline import plain
from spadework.values import Conflict, Evidence, Side

#: Share of the content words, of the shorter statement, that two statements must share to be about the same thing.
SAME = 0.6
#: A denial turns little else of a sentence, so statements that differ by one must share more.
SAME_BUT_DENIED = 0.75
LEAST_SHARED = 2

#: Words between what was asked about and the number that answers it, at most.
NEAR = 3
_TOKEN = re.compile(r"\d[\d.,]*\d|\w+")
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
#: A year of any age, where a date is asked for.
_ANY_YEAR = re.compile(r"(?:1\d|20)\d\d")
_DIGIT = re.compile(r"\d")


def conflicts(ledger: Sequence[Evidence], asked: Collection[str] = ()) -> list[Conflict]:
    """The disagreements inside each topic between quotes of independent origins, each pair of quotes once.

    `asked` are the stems that a question for one fact asks about its subject: quotes that give another number beside them disagree.
    """
    found = []
    seen: set[tuple[str, str]] = set()
    for one, other in combinations([e for e in ledger if e.kind != "code"], 2):
        pair = (one.quote, other.quote)
        if one.topic != other.topic or (one.origin == other.origin and one.content_hash == other.content_hash) or pair in seen:
            continue
        texts = plain(one.quote), plain(other.quote)
        if kind := disagreement(*texts) or _another_answer(*texts, asked):
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


def _another_answer(one: str, other: str, asked: Collection[str]) -> Literal["date", "number", ""]:
    """How the answers differ that two texts give to what was asked; "" where they do not, or one gives none."""
    a, b = _answer(one, asked), _answer(other, asked)
    if not a or not b or a == b or bool(_ANY_YEAR.fullmatch(a)) != bool(_ANY_YEAR.fullmatch(b)):
        return ""
    return "date" if _ANY_YEAR.fullmatch(a) else "number"


def _answer(text: str, asked: Collection[str]) -> str:
    """The number that stands nearest to a word that was asked about, at most NEAR words away; "" where there is none."""
    tokens = _TOKEN.findall(text)
    words = [n for n, token in enumerate(tokens) if stems(token) & set(asked)]
    values = [n for n, token in enumerate(tokens) if token[0].isdigit()]
    near = [(abs(n - word), n) for n in values for word in words if abs(n - word) <= NEAR]
    return tokens[min(near)[1]].replace(",", "").rstrip(".") if near else ""


def _words(text: str) -> set[str]:
    return {word for word in stems(text) if not _DIGIT.search(word)}

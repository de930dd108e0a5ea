"""How two statements disagree: they say nearly the same of the same thing, but with other numbers,
dates or names, or a denial.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Literal

from spadework.tools.facts import months, negated, numbers, stems
from spadework.tools.relations import differ
from spadework.tools.text.detect import spoken

Kind = Literal["number", "date", "negation", "value", ""]

#: Share of the content words, of the shorter statement, that two statements must share to be about
#: the same thing.
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


def disagreement(one: str, other: str, asked: Collection[str] = ()) -> Kind:
    """How two statements disagree: "date", "number", "value" or "negation"; "" when they do not or
    speak of different things.
    """
    code = spoken(one, other)
    a, b = _words(one, code), _words(other, code)
    shared, least = len(a & b), min(len(a), len(b))
    if shared >= LEAST_SHARED and shared >= SAME * least:
        if kind := _other_numbers(one, other, code):
            return kind
        if _deny_one(one, other, code) and shared >= SAME_BUT_DENIED * max(len(a), len(b)):
            return "negation"
    return _another_answer(one, other, asked, code) or (
        "value" if differ(one, other, frozenset(asked)) else ""
    )


def _deny_one(one: str, other: str, code: str) -> bool:
    return negated(one, code) != negated(other, code)


def _other_numbers(one: str, other: str, code: str) -> Literal["date", "number", ""]:
    x, y = numbers(one, code), numbers(other, code)
    if not x or not y or x <= y or y <= x:
        return ""
    dates = all(n.startswith("m") or _YEAR.fullmatch(n) for n in x ^ y) or bool(
        months(one, code) and months(other, code) and x & y
    )
    return "date" if dates else "number"


def _another_answer(
    one: str, other: str, asked: Collection[str], code: str
) -> Literal["date", "number", ""]:
    """How the answers differ that two texts give to what was asked; "" where they do not, or one
    gives none.
    """
    a, b = _answer(one, asked, code), _answer(other, asked, code)
    if not a or not b or a == b or bool(_ANY_YEAR.fullmatch(a)) != bool(_ANY_YEAR.fullmatch(b)):
        return ""
    return "date" if _ANY_YEAR.fullmatch(a) else "number"


def _answer(text: str, asked: Collection[str], code: str) -> str:
    """The number that stands nearest to a word that was asked about, at most NEAR words away; ""
    where there is none.
    """
    tokens = _TOKEN.findall(text)
    words = [n for n, token in enumerate(tokens) if stems(token, code) & set(asked)]
    values = [n for n, token in enumerate(tokens) if token[0].isdigit()]
    near = [(abs(n - word), n) for n in values for word in words if abs(n - word) <= NEAR]
    return tokens[min(near)[1]].replace(",", "").rstrip(".") if near else ""


def _words(text: str, code: str) -> set[str]:
    return {word for word in stems(text, code) if not _DIGIT.search(word)}

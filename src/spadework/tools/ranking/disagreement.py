"""How two statements disagree: they say nearly the same of the same thing, but with other numbers,
dates or names, or a denial.

SAME, SAME_BUT_DENIED and NEAR were chosen by `benchmarks/disagreements.py`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator
from itertools import product
from typing import Literal, NamedTuple

from spadework.tools.ranking.selection import bare
from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import is_negated, months, numbers, stems
from spadework.tools.text.language import language
from spadework.tools.text.relations import differ
from spadework.tools.text.sentences import sentences

Kind = Literal["number", "date", "negation", "value", ""]

#: Share of the content words, of the shorter statement, that two statements must share to be about
#: the same thing.
SAME = 0.6
#: A denial turns little else of a sentence: so much of the longer one two must share that differ by
#: one.
SAME_BUT_DENIED = 0.8
#: Content words on each side of a number among which stands what it is the number of; signs for
#: each where words are not set apart.
NEAR, SIGNS = 2, 4
#: Content words within which a year may be that of a number; one that begins a sentence always may.
DATED = 4
#: Share of the words of a page's title by which another page, or what it says, speaks of the same.
TITLED = 0.5

_TOKEN = re.compile(r"\d[\d.,]*\d|\d|[^\W\d_]+")
_YEAR = re.compile(r"(?:1\d|20)\d\d")
#: The mark of a footnote, which is no figure.
_NOTE = re.compile(r"\[\d{1,3}\]")
_DIGIT = re.compile(r"\d")
_ENDED = (*'.!?。！？"”',)
#: "Django 1.11", "Section 4": the number is a part of the name.
_NUMBERED = re.compile(r"([A-Z][\w+-]*)\s+v?(\d+(?:\.\d+)*)\b")


class _Value(NamedTuple):
    """A number as it is compared and as it is written, whether it is a year, the words around it,
    and whether a year may date it.
    """

    number: str
    token: str
    year: bool
    near: frozenset[str]
    dated: bool = False


def disagreement(
    one: str, other: str, asked: Collection[str] = (), titles: tuple[str, str] = ("", "")
) -> Kind:
    """How two statements disagree; "" when they do not, or speak of different things.

    `asked` are stems of what was asked: different values beside one of them disagree whatever else
    is said. `titles` are those of the pages, where they are known.
    """
    one, other = _NOTE.sub("", one), _NOTE.sub("", other)
    code = spoken(one, other)
    if not (_states(one, code) and _states(other, code)) or _of_others(one, other, titles, code):
        return ""
    sought = frozenset(asked)
    # Of a longer statement the sentence counts that says what was asked.
    told = _sentences_about(one, sought, code), _sentences_about(other, sought, code)
    for a, b in list(product(*told)) or [(one, other)]:
        if kind := _other_numbers(a, b, sought, code):
            return kind
    if _denies(one, other, code):
        return "negation"
    return "value" if differ(one, other, sought) else ""


def _sentences_about(text: str, asked: frozenset[str], code: str) -> list[str]:
    parts = [text[start:end] for start, end in sentences(text, code)]
    return [part for part in parts if asked & stems(part, code)]


def figures_apart(one: str, other: str, *, years: bool) -> tuple[str, str] | None:
    """The two figures (or `years`), as they are written, in which two statements that disagree
    differ: those that stand beside the most of the same words. None where no two do.
    """
    code = spoken(one, other)
    x, y = numbers(one, code), numbers(other, code)
    ours = [value for value in _values(one, code) if value.number not in y]
    theirs = [value for value in _values(other, code) if value.number not in x]
    shared = {
        (a.token, b.token): len(a.near & b.near)
        for a, b in product(ours, theirs)
        if a.year == b.year == years and a.near & b.near
    }
    return max(shared, key=lambda pair: shared[pair], default=None)


def about_the_same(one: str, other: str) -> bool:
    """Whether two statements share most of the words of the shorter one, whatever their numbers."""
    code = spoken(one, other)
    a, b = _words(one, code), _words(other, code)
    return bool(a and b) and len(a & b) >= SAME * min(len(a), len(b))


def _states(text: str, code: str) -> bool:
    """Whether a text is a sentence: a heading, a cell or an item of names states nothing."""
    spoken_in = language(code)
    if spoken_in.unspaced:
        return True
    return text.rstrip().endswith(_ENDED) and not spoken_in.stop.isdisjoint(
        _TOKEN.findall(text.lower())
    )


def _of_others(one: str, other: str, titles: tuple[str, str], code: str) -> bool:
    """Whether two statements are about different things: another version of what both begin with,
    each begins with what its own page is titled, or their pages are about something else and do
    not speak of each other's.
    """
    a, b = _numbered_name(one, code), _numbered_name(other, code)
    if a and b and a[0] == b[0] and a[1] != b[1]:
        return True
    first, second = (stems(bare(title), code) for title in titles)
    if not first or not second:
        return False
    if first != second and _opens(one, titles[0], code) and _opens(other, titles[1], code):
        return True
    spoken_of = (
        (min(first, second, key=len), first & second),
        (first, stems(other, code)),
        (second, stems(one, code)),
    )
    return not any(len(own & said) >= TITLED * len(own) for own, said in spoken_of)


def _opens(text: str, title: str, code: str) -> bool:
    """Whether a statement begins with what its page is titled, and so tells of that."""
    named = bare(title)
    return stems(" ".join(text.split()[: len(named.split())]), code) == stems(named, code)


def _numbered_name(text: str, code: str) -> tuple[str, str]:
    """The name with its number that a text begins with; a month or "In 1904" is none."""
    found = _NUMBERED.match(text)
    if not found or _YEAR.fullmatch(found[2]):
        return ("", "")
    name = found[1].lower()
    known = language(code)
    return ("", "") if name in known.months or name in known.stop else (name, found[2])


def _other_numbers(
    one: str, other: str, asked: frozenset[str], code: str
) -> Literal["date", "number", ""]:
    """How the numbers of the same thing, or of what was asked, differ; of other years they may."""
    x, y = numbers(one, code), numbers(other, code)
    if not x or not y or x <= y or y <= x:
        return ""
    alike = about_the_same(one, other)
    if alike and all(n.startswith("m") for n in x ^ y):
        return "date"
    ours = [value for value in _values(one, code) if value.number not in y]
    theirs = [value for value in _values(other, code) if value.number not in x]
    of_years = all({value.year for value in own} == {True, False} for own in (ours, theirs))
    for a in ours:
        for b in theirs:
            if of_years and (a.year or a.dated or b.dated):
                continue
            shared = a.near & b.near
            if a.year == b.year and shared and (alike or not shared.isdisjoint(asked)):
                dated = a.year or (months(one, code) and months(other, code) and x & y)
                return "date" if dated else "number"
    return ""


def _values(text: str, code: str) -> Iterator[_Value]:
    """The numbers of a text, each reading of them."""
    around = _signs_around if language(code).unspaced else _words_around
    for token, near, dated in around(text, code):
        for number in numbers(token, code):
            yield _Value(number, token, bool(_YEAR.fullmatch(token)), frozenset(near), dated)


def _words_around(text: str, code: str) -> Iterator[tuple[str, set[str], bool]]:
    known = [(token, stems(token, code)) for token in _TOKEN.findall(text)]
    telling = [(token, own) for token, own in known if own]
    years = [n for n, (token, _) in enumerate(telling) if _YEAR.fullmatch(token)]
    for n, (token, _) in enumerate(telling):
        if token[0].isdigit():
            beside = [*telling[max(0, n - NEAR) : n], *telling[n + 1 : n + 1 + NEAR]]
            at = bisect_left(years, n - DATED)
            dated = years[:1] == [0] or (at < len(years) and years[at] <= n + DATED)
            yield token, set[str]().union(*(own for _, own in beside)), dated


def _signs_around(text: str, code: str) -> Iterator[tuple[str, set[str], bool]]:
    reach = SIGNS * NEAR
    for token in _TOKEN.finditer(text):
        if token[0][0].isdigit():
            before = text[max(0, token.start() - reach) : token.start()]
            after = text[token.end() : token.end() + reach]
            yield token[0], stems(before, code) | stems(after, code), True


def _denies(one: str, other: str, code: str) -> bool:
    a, b = _words(one, code), _words(other, code)
    alike = bool(a and b) and len(a & b) >= SAME_BUT_DENIED * max(len(a), len(b))
    return alike and is_negated(one, code) != is_negated(other, code)


def _words(text: str, code: str) -> set[str]:
    return {word for word in stems(text, code) if not _DIGIT.search(word)}

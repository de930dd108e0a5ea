"""How two statements disagree: another figure, date or name for the same thing, or a denial.

Figures are compared if unit, subject and predicate match. SAME, SAME_BUT_DENIED and TITLED were
chosen with `benchmarks/disagreements.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator
from difflib import SequenceMatcher
from functools import lru_cache
from itertools import product
from typing import Literal

from spadework.tools.ranking.selection import bare
from spadework.tools.ranking.statements import (
    DATE,
    FIGURE,
    STOP,
    Statement,
    Value,
    content_stems,
    statements,
)
from spadework.tools.text.facts import differ, relations, stems
from spadework.tools.text.language import spoken
from spadework.tools.text.quantities import Quantity, is_same

Kind = Literal["number", "date", "negation", "value", ""]

#: Minimum share of the shorter statement's content words, and their minimum number, shared by two
#: statements about the same thing.
SAME, LEAST = 0.6, 2
#: A denial changes little else: minimum share of the longer sentence's words in common.
SAME_BUT_DENIED = 0.8
#: Minimum share of a page title's words that another page or statement about the same thing
#: contains.
TITLED = 0.5


def disagreement(
    one: str, other: str, asked: Collection[str] = (), titles: tuple[str, str] = ("", "")
) -> Kind:
    """Return how two statements disagree; "" if they do not, or are about different things.

    `asked` are stems of the question: different values near one of them always disagree. `titles`
    are those of the pages, if known.
    """
    code = spoken(one, other)
    sought = frozenset(asked)
    pairs = product(statements(one, code), statements(other, code))
    for a, b in pairs:
        if kind := compare(a, b, sought, titles):
            return kind
    return ""


def compare(
    a: Statement,
    b: Statement,
    asked: frozenset[str] = frozenset(),
    titles: tuple[str, str] = ("", ""),
) -> Kind:
    """Return how two sentences disagree; see `disagreement`."""
    kind: Kind = ""
    if not (a.is_sentence and b.is_sentence):
        return ""
    if differ(a.text, b.text, asked):
        kind = "value"
    elif not _names_others(a, b):
        apart = _values_apart(a, b, asked)
        kind = apart or ("negation" if _denies(a, b) else "")
        kind = "" if kind and _contrast(a, b) else kind
    return "" if kind and _pages_are_of_others(a, b, titles) else kind


def figures_apart(one: str, other: str, *, years: bool) -> tuple[str, str] | None:
    """Return the two figures (or `years`: dates), as written, on which two conflicting statements
    differ; None if there are none.
    """
    code = spoken(one, other)
    for a, b in product(statements(one, code), statements(other, code)):
        for x, y in _likes(a, b):
            if (x.unit == DATE) == years and x.near & y.near and _differ(x, y):
                return x.text, y.text
    return None


def agree(one: str, other: str) -> bool:
    """Return whether two statements share a figure or date of one unit."""
    code = spoken(one, other)
    pairs = product(statements(one, code), statements(other, code))
    return any(not _differ(x, y) for a, b in pairs for x, y in _likes(a, b))


def keys(statement: Statement) -> Iterator[tuple[tuple[str, ...], Hashable]]:
    """Yield the index keys of a statement, each with a value. Statements that disagree share a key
    with different values.
    """
    for value in statement.values:
        for word in value.near - statement.names:
            yield (value.unit, word), value.date if value.unit == DATE else value.ranges
    for relation in relations(statement.text):
        yield ("=", relation.what), relation.value
    for word in statement.words:
        yield ("not", word), statement.denied


def about_the_same(one: str, other: str) -> bool:
    """Return whether two statements share most of the shorter one's words."""
    code = spoken(one, other)
    a, b = content_stems(one, code), content_stems(other, code)
    return bool(a and b) and len(a & b) >= SAME * min(len(a), len(b))


def _names_others(a: Statement, b: Statement) -> bool:
    """Return whether each of two statements names something the other does not."""
    labels = a.labels - b.labels and b.labels - a.labels
    return bool(labels or (a.names - b.words and b.names - a.words))


def _pages_are_of_others(a: Statement, b: Statement, titles: tuple[str, str]) -> bool:
    """Return whether two statements are about different things: each starts with its own page's
    title, or their pages have other subjects and do not mention each other's.
    """
    first, second = (_title_stems(title, a.code) for title in titles)
    if not first or not second:
        return False
    if first != second and _opens(a, titles[0]) and _opens(b, titles[1]):
        return True
    spoken_of = (
        (min(first, second, key=len), first & second),
        (first, b.words),
        (second, a.words),
    )
    return not any(len(own & said) >= TITLED * len(own) for own, said in spoken_of)


@lru_cache(maxsize=2_048)
def _title_stems(title: str, code: str) -> frozenset[str]:
    return frozenset(stems(bare(title), code))


def _opens(statement: Statement, title: str) -> bool:
    """Return whether a statement starts with its page's title, and so is about it."""
    named, code = bare(title), statement.code
    begun = " ".join(statement.text.split()[: len(named.split())])
    return stems(begun, code) == stems(named, code)


def _values_apart(
    a: Statement, b: Statement, asked: frozenset[str]
) -> Literal["date", "number", ""]:
    """Return how values differ that belong to the same thing, or to what was asked, and occur in
    one statement only. Figures of different years may differ.
    """
    alike = _is_alike(a, b)
    likes = [(x, y, _differ(x, y)) for x, y in _likes(a, b)]
    agreed = {value for x, y, apart in likes if not apart for value in (x, y)}
    left = [(x, y) for x, y, apart in likes if apart and not {x, y} & agreed]
    of_years = {x.unit == DATE for x, _ in left} == {True, False}
    for x, y in left:
        if of_years and (x.unit == DATE or x.dated or y.dated):
            continue
        shared = (x.near & y.near) - (a.names & b.names)
        if shared and (alike or not shared.isdisjoint(asked)):
            return "date" if x.unit == DATE else "number"
    return ""


def _likes(a: Statement, b: Statement) -> Iterator[tuple[Value, Value]]:
    for x, y in product(a.values, b.values):
        if x.unit == y.unit:
            yield x, y


def _is_alike(a: Statement, b: Statement) -> bool:
    shared = len(a.words & b.words)
    enough = shared >= LEAST or (shared and a.words == b.words)
    return bool(enough) and shared >= SAME * min(len(a.words), len(b.words))


def _differ(x: Value, y: Value) -> bool:
    """Return whether two values of one unit cannot both be true."""
    if x.unit == DATE:
        return any(
            one and other and one != other for one, other in zip(x.date, y.date, strict=True)
        )
    if x.bound == y.bound:
        return not any(_overlap(one, other) for one, other in product(x.ranges, y.ranges))
    if x.bound and y.bound:
        return False
    bounded, exact = (x, y) if x.bound else (y, x)
    return all(
        end.value < bound.value if bounded.bound == "more" else start.value > bound.value
        for (bound, _), (start, end) in product(bounded.ranges, exact.ranges)
    )


def _overlap(one: tuple[Quantity, Quantity], other: tuple[Quantity, Quantity]) -> bool:
    (low, high), (start, end) = one, other
    if low.dimension != start.dimension:
        return False
    same = is_same(low, start) or is_same(start, low)
    return same or (low.value <= end.value and start.value <= high.value)


def _contrast(a: Statement, b: Statement) -> bool:
    """Return whether two parallel sentences are about two things: a word of one is replaced in the
    other ("adults pay …", "children pay …"). The verb before a figure, and words far behind the
    last figure, may differ.
    """
    values = [n for n, word in enumerate(a.frame) if word in (DATE, FIGURE)]
    last = max(values, default=len(a.frame)) + 2
    matcher = SequenceMatcher(None, a.frame, b.frame, autojunk=False)
    for kind, i, j, k, m in matcher.get_opcodes():
        ours, theirs = list(a.frame[i:j]), list(b.frame[k:m])
        if a.frame[j : j + 1] == b.frame[m : m + 1] == (FIGURE,):
            ours, theirs = ours[:-1], theirs[:-1]
        bare_words = not any(word[0] in (DATE, FIGURE, STOP) for word in (*ours, *theirs))
        other = set(ours) - b.words and set(theirs) - a.words
        if kind == "replace" and i <= last and bare_words and other:
            return True
    return False


def _denies(a: Statement, b: Statement) -> bool:
    alike = len(a.words & b.words) >= SAME_BUT_DENIED * max(len(a.words), len(b.words), 1)
    return alike and a.denied != b.denied

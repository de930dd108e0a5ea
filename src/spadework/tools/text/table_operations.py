"""Compute answers from tables, such as a row, a count, a sum or the largest value."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, takewhile
from typing import Any, Literal, NamedTuple

from spadework.tools.text.facts import OTHER_WORDS, is_negated, is_unit, numbers, spelled_numbers
from spadework.tools.text.language import Language, language
from spadework.tools.text.tables import (
    Amount,
    Row,
    Span,
    Table,
    amounts,
    dates,
    is_measure,
    tables_of,
    total_of,
    unit_of,
    unit_of_name,
)
from spadework.tools.text.terms import terms

Kind = Literal["largest", "smallest", "sum", "mean", "count", "row"]

_KINDS: tuple[Kind, ...] = ("sum", "mean", "largest", "smallest", "count")
LEAST_HELD = 0.5
#: At most this many words after "how many" or "which" are taken as the name of the thing asked for.
THING_WORDS = 2
_YEAR = re.compile(r"[12]\d{3}")
#: Matches a cell with digits but no letters. Such a cell cannot name a row.
_DIGITS = re.compile(r"[\W\d_]*\d[\W\d_]*")
_YES = frozenset(("yes", "y", "true", "x", "ja", "oui", "sí", "si", "да", "はい", "是", "✓"))
_NO = frozenset(("no", "n", "false", "nein", "non", "нет", "いいえ", "否", "✗"))
#: Maps each comparison to its sign, its test, and whether it compares only years or dates.
_SIGNS: Mapping[str, tuple[str, Callable[[Any, Any], bool], bool]] = {
    "before": ("<", operator.lt, True), "after": (">", operator.gt, True),
    "since": ("≥", operator.ge, True), "until": ("≤", operator.le, True),
    "in": ("=", operator.eq, True), "below": ("<", operator.lt, False),
    "above": (">", operator.gt, False), "at_least": ("≥", operator.ge, False),
    "at_most": ("≤", operator.le, False),
}  # fmt: skip


@dataclass(frozen=True)
class Computed:
    """A value computed from the `rows` of a table that satisfy the condition `where`. `of` is the
    table's total number of rows. `score` is the fraction of the question's words found in the
    table. `column` is "" for a count.
    """

    kind: Kind
    value: str
    rows: tuple[Span, ...]
    of: int
    column: str
    where: str
    score: float


class _Condition(NamedTuple):
    """A condition stated by the question's `words`: a row's `column` has one of `values`."""

    column: int
    values: frozenset[str]
    told: str
    words: frozenset[str]
    kind: Literal["cell", "key", "bound", "yes or no"]


@lru_cache(maxsize=64)
def compute(question: str, code: str, text: str, about: str = "") -> Computed | None:
    """Return the single answer from the tables in `text`, or None. `about` is the text's title."""
    known = language(code)
    asked = known.cues_in(_without_bounds(question, code))  # "at most 5" does not ask for a maximum
    wanted: list[Kind] = [*(kind for kind in _KINDS if kind in asked), "row"]
    if wanted == ["row"] and ("who" in asked or known.which.match(question)):
        wanted = ["row", "count"]  # "which objects were made before 1850" asks for rows
    found = list[Computed]()
    for table in tables_of(text, code):
        of = _Asked(question, known, table, about)
        made = [one for kind in wanted if (one := of.compute(kind, "count" in asked))]
        found += [max(made, key=lambda one: one.score)] if made and not of.refused else []
    best = max((one.score for one in found), default=0.0)
    equal = [one for one in found if one.score == best]
    return equal[0] if len({one.value for one in equal}) == 1 else None


def _without_bounds(question: str, code: str) -> str:
    for bound in _bounds(question, code):
        question = question.replace(bound.text, " ")
    return question


class _Asked:
    def __init__(self, question: str, known: Language, table: Table, about: str) -> None:
        bounds = _bounds(question, known.code)
        self.question, self.known, self.table = question, known, table
        self.asked = _stems_of_days(question, known) - _form_words(question, known)
        self.title = _stems(f"{about} {table.about}", known)
        self.about = self.title | _stems(" ".join(table.names), known)
        count = known.cues["count"].search(question) if "count" in known.cues else None
        self.counted = _behind(count, known)
        self.form = _stems(count[0], known) if count else set[str]()
        self.listed = _behind(known.which.match(question), known)
        figures = _stems(" ".join(bound.written for bound in bounds), known)
        self.naming = self.asked - figures
        self.negated = is_negated(_without_bounds(question, known.code), known.code)
        told = _conditions(self.naming, known, table)
        self.where = [*told, *self._switched({one.column for one in told})]
        #: False if the question excludes rows, or states a comparison that fits no column.
        self.applies = not known.excludes.search(question)
        for bound in bounds:
            found = self._bounded(bound)
            self.where += [found] if found else []
            self.applies &= bool(found) or _stems(bound.written, known) <= self.about
        #: True if the question refers to one column, but cannot be answered from the column's
        #: figures.
        self.refused = False
        # Negations are understood only for a single yes-or-no condition.
        self.applies &= not self.negated or [one.kind for one in self.where] == ["yes or no"]

    def compute(self, kind: Kind, counting: bool) -> Computed | None:
        where = self.where
        if kind == "row" and not any(one.kind == "cell" for one in where):
            where = [*where, *_key(self.naming, self.known, self.table)]
        keys = set[str]().union(*(one.words for one in where))
        columns = self._columns(kind, keys, {one.column for one in where})
        held = _matching_stems(self.asked, self.about) | (self.asked & keys)
        held |= self._measured(columns)
        score = len(held) / len(self.asked) if self.asked else float(bool(where))
        kept = [row for row in self.table.rows if all(row[1][c.column] in c.values for c in where)]
        if not (self.applies and kept and score > LEAST_HELD):
            return None
        made = self._apply(kind, kept, columns, where, score, counting)
        if made is None:
            return None
        value, rows, column = made
        name = self.table.names[column] if column >= 0 else ""
        told = "; ".join(one.told for one in where)
        return Computed(kind, value, tuple(rows), len(self.table.rows), name, told, score)

    def _columns(self, kind: Kind, keys: set[str], used: set[int]) -> list[int]:
        """Return the indices of the columns from which to compute the answer."""
        named = [
            n
            for n, name in enumerate(self.table.names)
            if n not in used
            and _is_named(name, self.question, self.asked, keys | self.about, self.known)
        ]
        found = [n for n in named if kind == "row" or self.table.is_numeric(n)]
        if not any(found) and kind in ("largest", "smallest", "row"):
            # Never measure the first column: it names the rows, even if it contains numbers.
            found = found if kind == "row" and found else []
            found = found or _measuring_columns(self.question, self.known, self.table)
        further = [n for n in found if not self._names(n) <= self.counted]
        return further if len(found) > 1 and kind != "row" else found

    def _names(self, column: int) -> set[str]:
        return _stems(self.table.names[column], self.known)

    def _measured(self, columns: Sequence[int]) -> set[str]:
        words = [
            w for w in re.findall(r"\w+", self.question.casefold()) if w in self.known.dimensions
        ]
        return _stems(" ".join(words), self.known) & self.asked if columns else set()

    def _bounded(self, bound: _Bound) -> _Condition | None:
        fitting = {
            n: passing
            for n, name in enumerate(self.table.names)
            if (passing := bound.rows_within(self.table.column(n), name, self.known.code))
            is not None
        }
        shared = {n: _matching_stems(self.asked, self._names(n)) for n in fitting}
        most = max(map(len, shared.values()), default=0)
        best = [n for n in fitting if len(shared[n]) == most]
        if len(best) != 1 or not (most or bound.of_time):
            return None
        [n] = best
        told = (
            f"{self.table.names[n]} {bound.sign} {bound.in_words(self.table.names[n], self.known)}"
        )
        words = frozenset(shared[n] | _stems(bound.text, self.known))
        return _Condition(n, fitting[n], told, words, "bound")

    def _switched(self, used: set[int]) -> Iterator[_Condition]:
        for n, name in enumerate(self.table.names):
            told = {value.casefold() for value in self.table.column(n) if value}
            if n in used or not told & _YES or not told <= _YES | _NO:
                continue
            if _is_named(name, self.question, self.asked, self.about, self.known):
                wanted = _NO if self.negated else _YES
                values = frozenset(v for v in self.table.column(n) if v.casefold() in wanted)
                where = f"{name} = {', '.join(sorted(values))}"
                yield _Condition(n, values, where, frozenset(self._names(n)), "yes or no")

    def _apply(
        self,
        kind: Kind,
        kept: Sequence[Row],
        columns: Sequence[int],
        where: Sequence[_Condition],
        score: float,
        counting: bool,
    ) -> tuple[str, list[Span], int] | None:
        if kind == "count":
            # If a column is called "shifts", "how many shifts" asks for a value in that column, not
            # for the number of rows.
            counted = self.counted | self.form
            free = set(range(len(self.table.names))) - {one.column for one in where}
            reads = any(
                self.table.is_numeric(n) and _matching_stems(counted, self._names(n)) for n in free
            )
            fits = self._is_listed(where, len(kept)) or (
                counting and self._is_counted(where, score, len(kept))
            )
            return (str(len(kept)), [span for span, _ in kept], -1) if fits and not reads else None
        if kind == "row":
            named = [n for n in columns if kept[0][1][n]]
            # If the question names the column ("which oil"), the question's other words need not
            # occur in the table.
            sure = score == 1 or any(
                self._amounts(n) or self._names(n) <= self.listed for n in named[:1]
            )
            fits = bool(where) and len(kept) == 1 and bool(named) and sure
            fits = fits and (score == 1 or all(one.kind == "cell" for one in where))
            return (kept[0][1][named[0]], [kept[0][0]], named[0]) if fits else None
        if len(columns) != 1:
            return None
        [column] = columns
        read = self._amounts(column) or {}
        found = [(read[row[1][column]], row) for row in kept if row[1][column] in read]
        figures = [one for one, _ in found]
        if kind in ("sum", "mean"):
            told = total_of(figures, mean=kind == "mean")
            self.refused = told is None
            return (told, [row[0] for _, row in found], column) if told else None
        self.refused = not found or _is_ranked(kind, self)
        if self.refused:
            return None
        best = (max if kind == "largest" else min)(one.value for one in figures)
        rows = [row for one, row in found if one.value == best]
        return rows[0][1][column], [row[0] for row in rows], column

    def _amounts(self, column: int) -> dict[str, Amount] | None:
        return amounts(self.table.column(column), self.known.code)

    def _is_counted(self, where: Sequence[_Condition], score: float, rows: int) -> bool:
        whole = score == 1 and bool(self.counted) and self.counted <= self.title
        return rows > 1 and (bool(where) or whole)

    def _is_listed(self, where: Sequence[_Condition], rows: int) -> bool:
        named = any(self.asked & self._names(c.column) - c.words for c in where if c.kind == "cell")
        apart = any(one.kind in ("bound", "yes or no") for one in where)
        of_it = not self.listed or bool(_matching_stems(self.listed, self.about))
        return of_it and (apart or (named and rows > 1 and bool(self.listed)))


def _is_ranked(kind: Kind, asked: _Asked) -> bool:
    """Return whether a superlative asks for a later rank ("second largest") or for several rows."""
    known, question = asked.known, asked.question
    found = known.cues[kind].search(question)
    if found and not known.unspaced:
        before, after = question[: found.start()].split(), question[found.end() :].split()
        question = " ".join([*before[-2:], ";", *after[:2]])
    told = numbers(question, known.code) | spelled_numbers(question, known.code)
    several = [one for one in told - {"1"} if one.isdecimal() and not _YEAR.fullmatch(one)]
    return bool(several or known.ranks.search(question))


def _is_named(name: str, question: str, asked: set[str], held: set[str], known: Language) -> bool:
    """Return whether a question names a column, but not in a longer name ("population density")."""
    every = _stems(name, known)
    own = {stem for stem in every if stem.isalpha() and not is_unit(stem)} or every
    others = {other for stem in asked for other in OTHER_WORDS.get(stem, ())}
    if not own or not own <= asked | others:
        return False
    words = [(word, _stems(word, known)) for word in re.findall(r"[\w-]+", question)]
    behind = [after for (_, stems), after in pairwise(words) if stems & own]
    before = [word for word, (_, stems) in pairwise(words) if stems & own and word[1] <= asked]
    beside = (stems for word, stems in (*behind, *before) if word.islower())
    return not any(stems - own - held for stems in beside)


def _measuring_columns(question: str, known: Language, table: Table) -> list[int]:
    """Return the columns that a superlative may refer to, such as one in kg for "heaviest"."""
    words = re.findall(r"\w+", question.casefold())
    asked = {each for word in words for each in known.dimensions.get(word, ())}
    found = list[int]()
    for n, name in enumerate(table.names[1:], 1):
        values = table.column(n)
        if any(values) and table.is_numeric(n) and not dates(values):
            told = unit_of_name(name, known.code)[1]
            found += [n] if "size" in asked or told in asked else []
    return found


def _conditions(asked: set[str], known: Language, table: Table) -> list[_Condition]:
    found: list[_Condition] = []
    for n, name in enumerate(table.names):
        named = bool(_matching_stems(asked, _stems(name, known)))
        values = {
            value
            for value in set(table.column(n))
            if (own := _cell_stems(value, known)) and own <= asked
            if named or not _DIGITS.fullmatch(value)
        }
        if values:
            words = frozenset().union(*(_stems(v, known) | _cell_stems(v, known) for v in values))
            told = f"{name} = {', '.join(sorted(values))}"
            found.append(_Condition(n, frozenset(values), told, words, "cell"))
    return found


def _key(asked: set[str], known: Language, table: Table) -> Iterator[_Condition]:
    for n, name in enumerate(table.names):
        if table.is_numeric(n):
            continue
        named = (value for value in table.column(n) if not _DIGITS.fullmatch(value))
        shared = {value: asked & _stems(value, known) for value in named}
        best = max(map(len, shared.values()), default=0)
        values = [value for value in table.column(n) if len(shared.get(value, ())) == best]
        if best and len(values) == 1:
            told = f"{name} = {values[0]}"
            yield _Condition(n, frozenset(values), told, frozenset(shared[values[0]]), "key")
            return


class _Bound(NamedTuple):
    """A question's comparison with a figure, year or date, such as "at most 5"."""

    text: str
    sign: str
    test: Callable[[Any, Any], bool]
    of_time: bool
    written: str
    amount: Amount | None

    def rows_within(self, column: Sequence[str], name: str, code: str) -> frozenset[str] | None:
        """Return the cells that satisfy the comparison, or None if the column is not comparable."""
        read = None if self.of_time else amounts(tuple(column), code)
        if read and self.amount:
            return self._larger_or_smaller(read, self.amount, name, code)
        days, own = dates(column), dates([self.written])
        if not days or not own:
            return None
        limit = own[self.written]
        known = min(map(len, days.values())) >= len(limit)
        passing = (cell for cell, day in days.items() if self.test(day[: len(limit)], limit))
        return frozenset(passing) if known else None

    def in_words(self, name: str, known: Language) -> str:
        one = self.amount
        if not one or (one.factor, one.dimension) in ((1, ""), unit_of_name(name, known.code)):
            return self.written
        if known.unspaced:
            return self.written + re.sub(r"([a-zA-Z²°]+|.).*", r"\1", one.unit)
        unit = takewhile(lambda word: is_measure(word, known.code), one.unit.split())
        return " ".join([self.written, *unit])

    def _larger_or_smaller(
        self, read: Mapping[str, Amount], limit: Amount, name: str, code: str
    ) -> frozenset[str] | None:
        first = next(iter(read.values()))
        factor, dimension = (1.0, first.dimension) if first.dimension else unit_of_name(name, code)
        apart = limit.dimension != (dimension if limit.dimension or first.dimension else "")
        apart |= "" != limit.money != first.money != ""
        if apart or ("%" in limit.unit) != ("%" in f"{first.unit}{name}"):
            return None
        own = limit.value * (factor if dimension and not limit.dimension else 1)
        return frozenset(cell for cell, one in read.items() if self.test(one.value * factor, own))


@lru_cache(maxsize=64)
def _bounds(question: str, code: str) -> tuple[_Bound, ...]:
    """Return the comparisons in a question. Words like "before" count only with a year or date."""
    bounds = language(code).bounds
    found = [(name, match) for name in bounds for match in bounds[name].finditer(question)]
    every = [match for _, match in found]
    made = (_Bound(m[0], *_SIGNS[name], *_figure_of(m, every, code)) for name, m in found)
    return tuple(one for one in made if not one.of_time or dates([one.written]))


def _figure_of(
    bound: re.Match[str], every: Sequence[re.Match[str]], code: str
) -> tuple[str, Amount | None]:
    start, end = bound.span(bound.lastindex or 0)
    unit = _unit_behind(bound)
    if unit_of(unit, code) == (1.0, ""):
        # In "between 5 and 20 kg", only one figure is followed by a unit, but the unit applies to
        # both.
        beside = [m for m in every if m.start() < bound.end() and bound.start() < m.end()]
        unit = next((other for m in beside if (other := _unit_behind(m)) != unit), unit)
    before = re.sub(r"[^-−$£¥\u20a0-\u20cf]", "", bound.string[max(0, start - 1) : start])
    written = bound.string[start:end]
    read = amounts((f"{before}{written}{unit}",), code) or {}
    return written, next(iter(read.values()), None)


def _unit_behind(bound: re.Match[str]) -> str:
    behind = re.match(r"[^\d?!.,;:]*", bound.string[bound.end(bound.lastindex or 0) :])
    return behind[0].rstrip() if behind else ""


def _behind(found: re.Match[str] | None, known: Language) -> set[str]:
    """Return the stems of the words after "how many" or "which"."""
    words = re.findall(r"[\w-]+", found.string[found.end() :])[:THING_WORDS] if found else []
    own = takewhile(lambda word: word.casefold() not in known.stop, words)
    return _stems(" ".join(own), known)


def _matching_stems(asked: set[str], own: set[str]) -> set[str]:
    return {stem for stem in asked if stem in own or own & set(OTHER_WORDS.get(stem, ()))}


@lru_cache(maxsize=20_000)
def _stemmed(text: str, code: str) -> frozenset[str]:
    return frozenset(terms(re.sub(r"[_/.-]", " ", text), code))


def _stems(text: str, known: Language) -> set[str]:
    return set(_stemmed(text, known.code))


def _cell_stems(value: str, known: Language) -> set[str]:
    """Return a cell's stems, with the same stem for "Mon" and "Monday"."""
    days = {day[:3] for day in known.weekdays if value.casefold() in (day, day[:2], day[:3])}
    return days or _stems_of_days(value, known)


def _stems_of_days(text: str, known: Language) -> set[str]:
    """Return a text's stems, with "m8" for "August" and "sat" for "Saturdays"."""

    def of(word: str) -> set[str]:
        if month := known.months.get(word):
            return {f"m{month}"}
        return {word[:3]} if known.is_weekday(word) else _stems(word, known)

    return set[str]().union(*map(of, re.findall(r"[\w'’]+", text.casefold())))


def _form_words(question: str, known: Language) -> set[str]:
    """Return the stems of words that only name the operation, such as "how many". Words that also
    say what is counted, such as "population", are left out.
    """
    found: Iterator[str] = (
        match[0]
        for name in _KINDS
        if name in known.cues
        for match in known.cues[name].finditer(question)
        if name != "count" or match[0].split()[0].casefold() in known.stop
    )
    return {stem for words in found for stem in terms(words, known.code)}

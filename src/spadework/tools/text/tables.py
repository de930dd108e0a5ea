"""Read Markdown tables and numbered lists, and compute answers from table rows."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise, zip_longest
from typing import Literal, NamedTuple

from spadework.tools.text.facts import OTHER_WORDS, figures, is_unit
from spadework.tools.text.language import Language, language
from spadework.tools.text.markdown import ITEM, Block, blocks, plain
from spadework.tools.text.sentences import is_ended
from spadework.tools.text.terms import terms

Span = tuple[int, int]

_CELL = re.compile(r"(?<!\\)\|")
#: Delimiter cells below a header, and below an ordinary first row. Markdown requires either.
NAMES, NO_NAMES = "---", "--"
LEAST_COLUMNS = 3
#: A label's final colon, with any closing emphasis after it.
_COLON = re.compile(r"\s*[:：](?=[*_]*$)")
#: A cell that starts with a number, unless the number is a year.
_FIGURE = re.compile(r"(?!(?:1[5-9]|20)\d\d\b)\W*\d")


def header_of(text: str, table: Block, least: int = LEAST_COLUMNS) -> Span | None:
    """Return the span of the row of column names, or None if the table has none.

    A first row is not a header if it contains figures, has NO_NAMES below it or has fewer than
    `least` columns.
    """
    lines = list(islice(_lines(text, table.start, table.end), 2))
    ruled = text[slice(*lines[1])] if len(lines) > 1 else ""
    if not _is_delimiter(ruled) or set(cells(ruled)) == {NO_NAMES}:
        return None
    names = cells(text[slice(*lines[0])])
    named = len(names) >= least and any(names) and not any(map(_FIGURE.match, names))
    return lines[0] if named else None


def rows_of(text: str, table: Block) -> list[Span]:
    """Return the spans of all rows except the header, in order."""
    header = header_of(text, table)
    return [span for span in rows_between(text, table.start, table.end) if span != header]


def rows_at(text: str, table: Block, place: Span) -> list[Span]:
    """Return the spans of the rows that `place` overlaps, including the header."""
    start, end = place
    first = max(table.start, text.rfind("\n", table.start, start) + 1)
    last = text.find("\n", end, table.end)
    rows = rows_between(text, first, table.end if last < 0 else last)
    return [span for span in rows if span[0] < end and start < span[1]]


def cells(row: str) -> list[str]:
    """Return a row's cells, unescaped."""
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(inner)]


def named_cells(header: str, row: str) -> list[tuple[str, str]]:
    """Return a row's cells as (column name, cell). A missing name or cell is ""."""
    names, told = ([" ".join(cell.split()) for cell in cells(text)] for text in (header, row))
    return list(zip_longest(names, told, fillvalue=""))


def row_as_sentence(row: Sequence[tuple[str, str]]) -> str:
    """Return named cells as a sentence: "Town: Kelling; Inhabitants: 3,100; Area: 5."

    Without column names, the first cell labels the others.
    """
    filled = [(_COLON.sub("", name), cell) for name, cell in row if cell]
    if any(name for name, _ in row):
        return _ended("; ".join(f"{name}: {cell}" if name else cell for name, cell in filled))
    first, *others = [cell for _, cell in filled] or [""]
    return _ended(f"{_COLON.sub('', first)}: {', '.join(others)}" if others else first)


def _ended(told: str) -> str:
    return told if is_ended(told) else f"{told}."


def _is_delimiter(line: str) -> bool:
    return "-" in line and not line.strip("|:- \t\r")


def rows_between(text: str, start: int, end: int) -> list[Span]:
    """Return the spans of the rows between two offsets, without delimiters and empty rows."""
    lines = [(span, text[slice(*span)]) for span in _lines(text, start, end)]
    return [span for span, line in lines if not _is_delimiter(line) and any(cells(line))]


def _lines(text: str, start: int, end: int) -> Iterator[Span]:
    while start <= end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        line = text[start:stop]
        begin = start + len(line) - len(line.lstrip())
        yield begin, max(begin, start + len(line.rstrip()))
        start = stop + 1


_NUMBER = re.compile(r"(\d+)([.)])")
#: Minimum extra indentation of a nested item, in columns.
_BELOW = 2
_WITHIN = ("list", "code", "table", "quote")


class Step(NamedTuple):
    """A list item's number, the offset of the list's first item, and the item's end."""

    number: int
    first: int
    end: int


class _Before(NamedTuple):
    """The previous step, with its column and marker."""

    step: Step
    column: int
    marked: int
    sign: str
    block: Block


def steps_of_lists(text: str, found: Iterable[Block]) -> dict[int, Step]:
    """Return the steps of numbered lists, by the offset of their text.

    Numbers must count up from 1, or all be 1. Nested items are not steps.
    """
    steps: dict[int, Step] = {}
    before: _Before | None = None
    for block in found:
        if block.kind != "list":
            before = before if block.kind in _WITHIN else None
            continue
        items = list(ITEM.finditer(text, block.start, block.end))
        # An item that continues after code or a table has no marker.
        ends = [*(item.start() for item in items[1:]), block.end][: len(items)]
        for item, end in zip(items, ends, strict=True):
            column = len(item[0][: -len(item[0].lstrip())].expandtabs(4))
            if before and column >= before.column + _BELOW:
                continue
            words = text[item.end() : end]
            begin = item.end() + len(words) - len(words.lstrip())
            mark = _NUMBER.fullmatch(item[0].strip())
            before = _next(before, block, column, mark, (begin, end)) if mark else None
            if before:
                steps[begin] = before.step
    return steps


def _next(
    before: _Before | None, block: Block, column: int, mark: re.Match[str], span: tuple[int, int]
) -> _Before | None:
    marked, sign = int(mark[1]), mark[2]
    number, first = 1, span[0]
    if before and before.sign == sign:
        all_ones = marked == before.marked == 1 and block == before.block
        if marked == before.step.number + 1 or all_ones:
            number, first = before.step.number + 1, before.step.first
    if number == 1 and marked != 1:
        return None
    return _Before(Step(number, first, span[1]), column, marked, sign, block)


Kind = Literal["largest", "smallest", "sum", "count", "row"]

_KINDS: tuple[Kind, ...] = ("sum", "largest", "smallest", "count")
LEAST_ROWS = 3
LEAST_HELD = 0.5
#: A cell that is a year, and a cell that is or starts with a figure.
_YEAR = re.compile(r"1\d{3}|20\d\d")
_CELL_FIGURE = re.compile(r"[^\w\s-]?\s?(-?\d+(?:,\d{3})*(?:\.\d+)?)(?:\D*)")


@dataclass(frozen=True)
class Computed:
    """The result of an operation on a table.

    `value` is taken from the `column` ("" for a count) of the `rows` (spans), all of which satisfy
    `where`. `of` counts all rows. `score` is the share of the question's words in the description,
    the column names and `where`.
    """

    kind: Kind
    value: str
    rows: tuple[Span, ...]
    of: int
    column: str
    where: str
    score: float


@dataclass(frozen=True)
class _Table:
    names: tuple[str, ...]
    rows: tuple[tuple[Span, tuple[str, ...]], ...]


def compute(question: str, code: str, text: str, about: str = "") -> Computed | None:
    """Return the best answer that a text's tables give to a question, or None.

    `about` describes the text, for example its title.
    """
    known = language(code)
    asked = known.cues_in(question)
    wanted: list[Kind] = [*(kind for kind in _KINDS if {kind} & asked), "row"]
    found = (
        made
        for table in _tables(text)
        for kind in wanted
        if (made := _compute(kind, question, known, table, about))
    )
    return max(found, key=lambda made: made.score, default=None)


@lru_cache(maxsize=64)
def _tables(text: str) -> tuple[_Table, ...]:
    made = []
    for block in blocks(text):
        header = header_of(text, block) if block.kind == "table" else None
        if header:
            names = tuple(map(plain, cells(text[slice(*header)])))
            rows = [(s, tuple(map(plain, cells(text[slice(*s)])))) for s in rows_of(text, block)]
            whole = tuple(row for row in rows if len(row[1]) == len(names))
            made += [_Table(names, whole)] if len(whole) >= LEAST_ROWS else []
    return tuple(made)


def _compute(
    kind: Kind, question: str, known: Language, table: _Table, about: str
) -> Computed | None:
    asked = set(terms(question, known.code)) - _form_words(question, known)
    where = _conditions(question, asked, known, table)
    keys = _stems(" ".join(value for values in where.values() for value in values), known)
    columns = [
        n for n, name in enumerate(table.names) if _is_named(name, question, asked, keys, known)
    ]
    kept = [row for row in table.rows if all(row[1][n] in values for n, values in where.items())]
    held = _matching_stems(asked, _stems(f"{about} {' '.join(table.names)}", known)).union(
        *(
            _matching_stems(asked, _months(value, known))
            for values in where.values()
            for value in values
        )
    )
    score = len(held) / len(asked) if asked else 0.0
    if not kept or score <= LEAST_HELD or not (columns or where):
        return None
    told = "; ".join(f"{table.names[n]} = {sorted(values)[0]}" for n, values in where.items())
    numeric = [n for n in columns if n not in where and _is_numeric(n, table)]
    if kind in ("largest", "smallest") and not any(numeric):
        # The first column names the rows, even if the names are numbers.
        numeric = _measuring_columns(question, known, table)
    made = _apply(kind, kept, numeric, bool(where))
    if made is None:
        return None
    value, rows, column = made
    name = table.names[column] if column >= 0 else ""
    return Computed(kind, value, tuple(rows), len(table.rows), name, told, score)


def _is_named(name: str, question: str, asked: set[str], keys: set[str], known: Language) -> bool:
    """Return whether a question names a column, by all its words except figures and units.

    The column must not be part of a longer name ("population density"). `keys` are words that name
    a row.
    """
    every = _stems(name, known)
    own = {stem for stem in every if stem.isalpha() and not is_unit(stem)} or every
    others = {other for stem in asked for other in OTHER_WORDS.get(stem, ())}
    if not own or not own <= asked | others:
        return False
    words = re.findall(r"[\w-]+", question)
    behind = [after for word, after in pairwise(words) if _stems(word, known) & own]
    return not any(word.islower() and _stems(word, known) - own - keys for word in behind)


def _measuring_columns(question: str, known: Language, table: _Table) -> list[int]:
    """Return the columns that a superlative may mean, by their units ("heaviest" means a column in
    kg).

    For a size, these are all numeric columns except the first and years.
    """
    words = re.findall(r"\w+", question.casefold())
    asked = {each for word in words for each in known.dimensions.get(word, ())}
    found = list[int]()
    for n, name in enumerate(table.names[1:], 1):
        values = [row[n] for _, row in table.rows]
        if _is_numeric(n, table) and not all(map(_YEAR.fullmatch, values)):
            unit = f"1 {re.sub(r'[_()]', ' ', name).split()[-1]}"
            told = {each.dimension for one in figures(unit, known.code) for each in one.readings}
            found += [n] if "size" in asked or told & asked else []
    return found


def _apply(
    kind: Kind, kept: Sequence[tuple[Span, tuple[str, ...]]], numeric: Sequence[int], filtered: bool
) -> tuple[str, list[Span], int] | None:
    if kind == "count":
        # A question that names a numeric column asks for its values, not for a count.
        fits = filtered and not numeric and len(kept) > 1
        return (str(len(kept)), [span for span, _ in kept], -1) if fits else None
    if kind == "row":
        fits = filtered and len(kept) == 1 and bool(numeric)
        return (kept[0][1][numeric[0]], [kept[0][0]], numeric[0]) if fits else None
    if len(numeric) != 1:
        return None
    [column] = numeric
    figures = [(value, row) for row in kept if (value := figure(row[1][column])) is not None]
    if kind == "sum":
        total = math.fsum(value for value, _ in figures)
        return f"{total:.6f}".rstrip("0").rstrip("."), [row[0] for _, row in figures], column
    best = (max if kind == "largest" else min)(value for value, _ in figures)
    rows = [row for value, row in figures if value == best]
    return rows[0][1][column], [row[0] for row in rows], column


def figure(cell: str) -> float | None:
    """Return the figure in a cell, or None."""
    found = _CELL_FIGURE.fullmatch(cell.strip())
    return float(found[1].replace(",", "")) if found else None


def _is_numeric(column: int, table: _Table) -> bool:
    return all(figure(row[column]) is not None for _, row in table.rows if row[column])


def _conditions(
    question: str, asked: set[str], known: Language, table: _Table
) -> dict[int, set[str]]:
    """Return the values named in the question, by column. Numbers need their column's name too."""
    found: dict[int, set[str]] = {}
    for n, name in enumerate(table.names):
        named = bool(_matching_stems(asked, _stems(name, known)))
        for value in {row[n] for _, row in table.rows}:
            own = _months(value, known)
            whole = bool(own) and own <= asked | _month_stems(question, known)
            if whole and (named or figure(value) is None):
                found.setdefault(n, set()).add(value)
    return found


def _matching_stems(asked: set[str], own: set[str]) -> set[str]:
    return {stem for stem in asked if stem in own or own & set(OTHER_WORDS.get(stem, ()))}


@lru_cache(maxsize=20_000)
def _stemmed(text: str, code: str) -> frozenset[str]:
    return frozenset(terms(re.sub(r"[_/.-]", " ", text), code))


def _stems(text: str, known: Language) -> set[str]:
    return set(_stemmed(text, known.code))


def _months(value: str, known: Language) -> set[str]:
    number = known.months.get(value.casefold())
    return {f"m{number}"} if number else _stems(value, known)


def _month_stems(question: str, known: Language) -> set[str]:
    words = re.findall(r"\w+", question.casefold())
    return {f"m{known.months[word]}" for word in words if word in known.months}


def _form_words(question: str, known: Language) -> set[str]:
    """Return the stems of words that only name the operation.

    "population" also asks for a number, but may be a column.
    """
    found: Iterator[str] = (
        match[0]
        for name in _KINDS
        if name in known.cues
        for match in known.cues[name].finditer(question)
        if name != "count" or match[0].split()[0].casefold() in known.stop
    )
    return {stem for words in found for stem in terms(words, known.code)}

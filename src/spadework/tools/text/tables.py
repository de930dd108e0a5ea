"""Read Markdown tables and numbered lists."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import islice, zip_longest
from typing import NamedTuple

from spadework.tools.text.facts import figures, is_unit, stems
from spadework.tools.text.language import DEFAULT, language
from spadework.tools.text.markdown import ITEM, Block, blocks, plain
from spadework.tools.text.passages import heading_at, headings, paths
from spadework.tools.text.sentences import is_ended

Span = tuple[int, int]

_CELL = re.compile(r"(?<!\\)\|")
#: Cells of the delimiter row in a table with column names, and in a table without them.
NAMES, NO_NAMES = "---", "--"
LEAST_COLUMNS = 3
#: The colon that ends a label, before any closing emphasis marks.
_COLON = re.compile(r"\s*[:：](?=[*_]*$)")
#: A cell that starts with a number other than a year.
_FIGURE = re.compile(r"(?!(?:1[5-9]|20)\d\d\b)\W*\d")


def header_of(text: str, table: Block, least: int = LEAST_COLUMNS) -> Span | None:
    """Return a header row's span (`least` or more columns, no figures), or None without one."""
    lines = list(islice(_lines(text, table.start, table.end), 2))
    ruled = text[slice(*lines[1])] if len(lines) > 1 else ""
    if not _is_delimiter(ruled) or set(cells(ruled)) == {NO_NAMES}:
        return None
    names = cells(text[slice(*lines[0])])
    named = len(names) >= least and any(names) and not any(map(_FIGURE.match, names))
    return lines[0] if named else None


def rows_of(text: str, table: Block) -> list[Span]:
    """Return the spans of all rows except the header."""
    header = header_of(text, table)
    return [span for span in rows_between(text, table.start, table.end) if span != header]


def rows_at(text: str, table: Block, place: Span) -> list[Span]:
    """Return the spans of rows that overlap `place`, including the header."""
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
    """Return (column name, cell) pairs, with "" for a missing name or cell."""
    names, told = ([" ".join(cell.split()) for cell in cells(text)] for text in (header, row))
    return list(zip_longest(names, told, fillvalue=""))


def row_as_sentence(row: Sequence[tuple[str, str]]) -> str:
    """Return named cells as a sentence: "Town: Kelling; Inhabitants: 3,100; Area: 5."."""
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
    """Return the spans of rows between two offsets, except delimiters and empty rows."""
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


#: `_AMOUNT` matches a figure with its sign, currency and unit. `_WITH_POINT` matches a figure whose
#: decimal separator, if any, is a point.
_AMOUNT = re.compile(r"([-−]?)([$£¥\u20a0-\u20cf]?)\s?(?<![-−]\s)(\d(?:[\d.,]*\d)?)(\D*)")
_WITH_POINT = re.compile(r"(?:[1-9]\d{0,2}(?:,\d{3})+|\d+)(?:\.\d+)?")
_SPACED = re.compile(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))")
_SWAPPED = str.maketrans(".,", ",.")
_DATE = re.compile(r"([12]\d{3})(?:-(\d\d)(?:-(\d\d))?)?|(\d\d?)([./])(\d\d?)\5([12]\d{3})")
_DIGIT_FIRST = re.compile(r"\W{0,3}\d")


class Amount(NamedTuple):
    """A number with its unit, currency (`money`) and `kind` (any other words next to it)."""

    number: float
    factor: float
    dimension: str
    money: str
    kind: str
    unit: str

    @property
    def value(self) -> float:
        """The number, converted to the base unit of its dimension."""
        return self.number * self.factor


@lru_cache(maxsize=64)
def amounts(column: tuple[str, ...], code: str) -> dict[str, Amount] | None:
    """Return a column's amounts keyed by cell, or None if they are unclear or incomparable."""
    ways = [_amounts(column, code, swapped) for swapped in (False, True)]
    made = [way for way in ways if way]
    sure = len(made) == 1 or language(code).decimal == "." or made[:1] == made[1:]
    return made[0] if made and sure else None


def _amounts(column: tuple[str, ...], code: str, swapped: bool) -> dict[str, Amount] | None:
    made = dict[str, Amount]()
    for cell in filter(None, column):
        amount = _amount(cell, code, swapped)
        if not amount:
            return None
        made[cell] = amount
    same = {(one.dimension, one.money, one.kind) for one in made.values()}
    return made if len(same) == 1 else None


def _amount(cell: str, code: str, swapped: bool) -> Amount | None:
    known = language(code)
    found = _AMOUNT.fullmatch(_SPACED.sub("", cell) if known.decimal == "," else cell)
    if not found:
        return None
    sign, money, figure, rest = found.groups()
    figure = figure.translate(_SWAPPED) if swapped else figure
    unit = unit_of(rest, code)
    # After a currency sign, a unit is ambiguous. The "m" in "$5m" may mean millions or meters.
    if not unit or not _WITH_POINT.fullmatch(figure) or (money and unit[1]):
        return None
    words = [word for word in rest.split() if not is_measure(word, code)]
    kind = " ".join(sorted(stems(" ".join(words), code))) or " ".join(words)
    number = float(figure.replace(",", "")) * (-1 if sign else 1)
    return Amount(number, *unit, money, kind, rest.strip())


def total_of(figures: Sequence[Amount], *, mean: bool) -> str | None:
    """Return the sum or mean in the figures' common unit, or None if their units differ."""
    if len({(one.factor, one.unit) for one in figures}) != 1:
        return None
    total = math.fsum(one.number for one in figures)
    told = f"{total / len(figures):.2f}" if mean else f"{total:.6f}"
    return f"{figures[0].money}{told.rstrip('0').rstrip('.')} {figures[0].unit}".strip()


def is_measure(word: str, code: str) -> bool:
    """Return whether a word is a unit or a power of ten."""
    word = word.lower().strip(".")
    return is_unit(word) or word in language(code).scales


def unit_of(rest: str, code: str) -> tuple[float, str] | None:
    """Return a unit's factor and dimension (None if unclear). `rest` is the text after a figure."""
    scales = language(code).scales
    if language(code).unspaced:
        powers = [scales[sign] for sign in rest.strip()[:2] if sign in scales]
        if powers and rest.strip()[0] in scales:
            return (10.0 ** powers[0], "") if len(powers) == 1 else None
        rest = re.match(r"[\x00-\x7f²°]*", rest)[0]  # type: ignore[index]
    found = figures(f"1{rest}", code)
    words = rest.lower().split()[:2]
    if not found or found[0].start or (len(words) > 1 and all(word in scales for word in words)):
        return None
    last = found[0].readings[-1]
    # Fahrenheit cannot be converted by a factor alone.
    fahrenheit = last.dimension == "celsius" and last.value != 1
    return (1.0, "fahrenheit") if fahrenheit else (last.value, last.dimension)


def unit_of_name(name: str, code: str) -> tuple[float, str]:
    """Return the factor and dimension of a name's final unit ("area_km2"), or (1.0, "") if none."""
    words = re.sub(r"(?<=m)2\b", "²", re.sub(r"[_()\[\]]", " ", name)).split()
    return (unit_of(f" {words[-1]}", code) if words else None) or (1.0, "")


def dates(column: Iterable[str]) -> dict[str, tuple[int, ...]] | None:
    """Return each cell's (year, month, day), as far as given, or None if any cell is unclear."""
    cells = list(filter(None, column))
    ways = [{cell: _date(cell, month_first) for cell in cells} for month_first in (False, True)]
    made = [{cell: day for cell, day in way.items() if day} for way in ways]
    whole = [way for way in made if cells and len(way) == len(set(cells))]
    return whole[0] if len(whole) == 1 or whole[:1] == whole[1:] != [] else None


def _date(cell: str, month_first: bool) -> tuple[int, ...] | None:
    found = _DATE.fullmatch(cell)
    if not found:
        return None
    year, month, day, first, sign, second, last = found.groups()
    if first:
        swapped = month_first and sign == "/"
        year, month, day = (last, first, second) if swapped else (last, second, first)
    parts = [int(part) for part in (year, month, day) if part]
    try:
        date(*[*parts, 1, 1][:3])
    except ValueError:
        return None
    return tuple(parts)


Row = tuple[Span, tuple[str, ...]]


@dataclass(frozen=True)
class Table:
    """A table with column names, and the heading above it."""

    about: str
    names: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, n: int) -> tuple[str, ...]:
        """Return the cells of a column."""
        return tuple(row[n] for _, row in self.rows)

    def is_numeric(self, n: int) -> bool:
        """Return whether at least half of a column's filled cells start with a figure."""
        filled = [value for value in self.column(n) if value]
        return 2 * sum(map(bool, map(_DIGIT_FIRST.match, filled))) >= len(filled)


@lru_cache(maxsize=64)
def tables_of(text: str, code: str) -> tuple[Table, ...]:
    """Return a text's tables, without rows of totals. Omit tables that have no header, or a row
    with more cells than the header.
    """
    made, above = [], paths(headings(text))
    for block in blocks(text):
        header = header_of(text, block) if block.kind == "table" else None
        if header:
            names = tuple(map(plain, cells(text[slice(*header)])))
            rows = [(s, tuple(map(plain, cells(text[slice(*s)])))) for s in rows_of(text, block)]
            if any(len(row) > len(names) for _, row in rows):
                continue
            whole = [(span, (*row, *[""] * (len(names) - len(row)))) for span, row in rows]
            kept = _without_totals(whole, code)
            made += [Table(heading_at(above, block.start), names, tuple(kept))] if kept else []
    return tuple(made)


def _without_totals(rows: Sequence[Row], code: str) -> Sequence[Row]:
    """Drop a final row of totals. Return () if it is unclear whether the last row has totals."""
    if not rows:
        return rows
    *others, (_, last) = rows
    label = next(filter(None, last), "").removesuffix("s")
    if len(label.split()) <= 2 and {"sum", "mean"} & (
        language(code).cues_in(label) | language(DEFAULT).cues_in(label)
    ):
        return others
    agree = list[bool]()
    for n, cell in enumerate(last):
        read = amounts(tuple(row[n] for _, row in rows), code) if cell else None
        figures = [read[row[n]].number for _, row in others if row[n]] if read else []
        if read and any(figures):
            agree.append(math.isclose(math.fsum(figures), read[cell].number))
    if len(others) < 2 or not agree or not all(agree):
        return rows
    return others if len(agree) > 1 or not last[0] else ()


_NUMBER = re.compile(r"(\d+)([.)])")
#: A nested list item is indented by at least this many more columns than its parent.
_BELOW = 2
_WITHIN = ("list", "code", "table", "quote")


class Step(NamedTuple):
    """A list item: its number, the offset of its list's first item, and the item's end."""

    number: int
    first: int
    end: int


class _Before(NamedTuple):
    step: Step
    column: int
    marked: int
    sign: str
    block: Block


def steps_of_lists(text: str, found: Iterable[Block]) -> dict[int, Step]:
    """Return the steps of numbered lists, keyed by text offset. Nested items are not steps."""
    steps: dict[int, Step] = {}
    before: _Before | None = None
    for block in found:
        if block.kind != "list":
            before = before if block.kind in _WITHIN else None
            continue
        items = list(ITEM.finditer(text, block.start, block.end))
        # A block without item markers is the rest of an item that another block interrupted.
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

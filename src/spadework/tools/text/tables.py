"""Read Markdown tables and numbered lists: rows, columns and steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import NamedTuple

from spadework.tools.text.markdown import ITEM, Block
from spadework.tools.text.sentences import is_ended

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

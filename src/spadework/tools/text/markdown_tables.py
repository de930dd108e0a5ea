"""Tables and numbered lists of Markdown: rows, columns, steps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice, zip_longest
from typing import NamedTuple

from spadework.tools.text.markdown import ITEM, Block
from spadework.tools.text.sentences import is_ended

Span = tuple[int, int]

_CELL = re.compile(r"(?<!\\)\|")
#: Delimiter cells below the first row, which Markdown requires: for a header, and for an ordinary
#: row. Both render the same.
NAMES, NO_NAMES = "---", "--"
#: Minimum columns for a first row to be a header.
LEAST_COLUMNS = 3
#: The colon of a cell that is a label, within its emphasis.
_COLON = re.compile(r"\s*[:：](?=[*_]*$)")
#: A cell that starts with a figure other than a year.
_FIGURE = re.compile(r"(?!(?:1[5-9]|20)\d\d\b)\W*\d")


def header_of(text: str, table: Block, least: int = LEAST_COLUMNS) -> Span | None:
    """Return the span of the row of column names; None if the table has none.

    A first row with figures, or with NO_NAMES below it, is ordinary; with fewer than `least`
    columns the first cell is the second's label.
    """
    lines = list(islice(_lines(text, table.start, table.end), 2))
    ruled = text[slice(*lines[1])] if len(lines) > 1 else ""
    if not _is_delimiter(ruled) or set(cells(ruled)) == {NO_NAMES}:
        return None
    names = cells(text[slice(*lines[0])])
    named = len(names) >= least and any(names) and not any(map(_FIGURE.match, names))
    return lines[0] if named else None


def rows_of(text: str, table: Block) -> list[Span]:
    """Return the spans of the rows other than the header, in order."""
    header = header_of(text, table)
    return [span for span in _rows(text, table.start, table.end) if span != header]


def rows_at(text: str, table: Block, place: Span) -> list[Span]:
    """Return the spans of the rows, including the header, that `place` overlaps."""
    start, end = place
    first = max(table.start, text.rfind("\n", table.start, start) + 1)
    last = text.find("\n", end, table.end)
    rows = _rows(text, first, table.end if last < 0 else last)
    return [span for span in rows if span[0] < end and start < span[1]]


def cells(row: str) -> list[str]:
    """Return a row's cells without pipes, unescaped."""
    inner = row.strip().removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    return [cell.strip().replace("\\|", "|") for cell in _CELL.split(inner)]


def row_as_sentence(header: str, row: str) -> str:
    """Return a row as a sentence: "Town: Kelling; Inhabitants: 3,100; Area: 5." Without column
    names the first cell is the label of the others.
    """
    values, names = cells(row), cells(header) if header else []
    if not any(names):
        first, *others = [value for value in values if value] or [""]
        return _ended(f"{_name(first)}: {', '.join(others)}" if others else first)
    named = [
        f"{_name(name)}: {value}" if name else value
        for name, value in zip_longest(names, values, fillvalue="")
        if value
    ]
    return _ended("; ".join(named))


def _name(cell: str) -> str:
    return _COLON.sub("", cell)


def _ended(told: str) -> str:
    return told if is_ended(told) else f"{told}."


def _is_delimiter(line: str) -> bool:
    return "-" in line and not line.strip("|:- \t\r")


def _rows(text: str, start: int, end: int) -> list[Span]:
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
#: Columns of indentation that make an item nested.
_BELOW = 2
#: Kinds of blocks that do not end a list between two items.
_WITHIN = ("list", "code", "table", "quote")


class Step(NamedTuple):
    """An item's number, where its list's first item begins, and where it ends."""

    number: int
    first: int
    end: int


class _Before(NamedTuple):
    """The previous step: its column, and its marker."""

    step: Step
    column: int
    marked: int
    sign: str
    block: Block


def steps_of_lists(text: str, found: Iterable[Block]) -> dict[int, Step]:
    """Return the steps among a text's blocks, by where their words begin. Numbers that do not count
    up from 1 are no steps, unless all are 1; nor are items below a step.
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
    """Return the numbered item after a step or none; None if it is not a step."""
    marked, sign = int(mark[1]), mark[2]
    number, first = 1, span[0]
    if before and before.sign == sign:
        all_ones = marked == before.marked == 1 and block == before.block
        if marked == before.step.number + 1 or all_ones:
            number, first = before.step.number + 1, before.step.first
    if number == 1 and marked != 1:
        return None
    return _Before(Step(number, first, span[1]), column, marked, sign, block)

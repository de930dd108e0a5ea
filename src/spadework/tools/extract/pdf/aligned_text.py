"""PDF tables without rules: columns of aligned text next to a table caption."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from spadework.tools.extract.markdown_writer import sheet_table
from spadework.tools.extract.pdf.lines import Line, is_figure

#: Start of a table's caption.
CAPTION = re.compile(r"(?:Table|Tab\.|Tabelle|Tableau|Tabla|Tabela|Tabella)\s+[\dIVXA-Z][\w.]*\b")
#: Maximum lines of a caption before its table begins.
CAPTION_LINES = 4
#: Minimum rows with several cells.
LEAST_ROWS = 3
#: Rows further apart than this many line heights belong to different tables.
ROW_GAP = 3.0

Parts = list[Line]


def with_aligned_tables(lines: list[Parts]) -> list[Parts]:
    """Replace lines in columns next to a caption by a table."""
    start = 0
    while start < len(lines):
        if CAPTION.match(lines[start][0].text) and not lines[start][0].table:
            for first, end in (_below(lines, start), _above(lines, start)):
                shown = _table(lines[first:end])
                if shown:
                    line = replace(lines[first][0], text="", table=shown)
                    lines = [*lines[:first], [line], *lines[end:]]
                    start = start if first > start else first + 1
                    break
        start += 1
    return lines


def _below(lines: Sequence[Parts], caption: int) -> tuple[int, int]:
    first = caption + 1
    while first < min(len(lines), caption + CAPTION_LINES) and len(lines[first]) < 2:
        first += 1
    end = first
    while end < len(lines) and _goes_on(lines, end, end - 1 if end > first else end):
        end += 1
    return _trim_rows(lines, first, end)


def _above(lines: Sequence[Parts], caption: int) -> tuple[int, int]:
    first = caption
    while first > 0 and _goes_on(lines, first - 1, first if first < caption else first - 1):
        first -= 1
    return _trim_rows(lines, first, caption)


def _goes_on(lines: Sequence[Parts], place: int, beside: int) -> bool:
    """Return whether a line continues the table next to it; a single part must be narrow."""
    line, other = lines[place], lines[beside]
    if line[0].table or CAPTION.match(line[0].text):
        return False
    near = abs(line[0].bottom - other[0].bottom) <= ROW_GAP * max(line[0].size, other[0].size, 1.0)
    if len(line) > 1 or place == beside:
        return near and len(line) > 1
    return near and len(other) > 1 and line[0].right <= other[-1].left


def _trim_rows(lines: Sequence[Parts], first: int, end: int) -> tuple[int, int]:
    while end > first and len(lines[end - 1]) < 2:
        end -= 1
    return first, end


def _table(rows: Sequence[Parts]) -> str:
    """Return rows as a table, "" if not in columns or if figures would share a cell."""
    full = [row for row in rows if len(row) > 1]
    if len(full) < LEAST_ROWS:
        return ""
    columns = _columns(full)
    if len(columns) < 2 or len(columns) < max(map(len, full)) - 1:
        return ""
    made: list[list[str]] = []
    for row in rows:
        cells = [""] * len(columns)
        for part in row:
            place = _place(part, columns)
            if cells[place] and is_figure(cells[place]) and is_figure(part.text):
                return ""
            cells[place] = f"{cells[place]} {part.text}".strip()
        if len(row) > 1 or not made:
            made.append(cells)
        else:
            joined = [*zip(made.pop(), cells, strict=True)]
            if any(is_figure(above) and is_figure(cell) for above, cell in joined):
                return ""
            made.append([f"{above} {cell}".strip() for above, cell in joined])
    return sheet_table(made)


def _columns(rows: Sequence[Parts]) -> list[tuple[float, float]]:
    """Return the left and right of each column, from the rows with most parts."""
    most = max(map(len, rows))
    whole = [row for row in rows if len(row) == most]
    columns: list[tuple[float, float]] = []
    for left, right in sorted((part.left, part.right) for row in whole for part in row):
        if columns and left < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], right))
        else:
            columns.append((left, right))
    return columns


def _place(part: Line, columns: Sequence[tuple[float, float]]) -> int:
    """Return the column that a part overlaps most, else the nearest."""
    return max(
        range(len(columns)),
        key=lambda place: min(part.right, columns[place][1]) - max(part.left, columns[place][0]),
    )

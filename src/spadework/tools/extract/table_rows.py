"""Rows as a Markdown table without empty rows and columns, within limits that are named."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from spadework.tools.extract.writing import blocks, not_shown, table

#: What a sheet or a table of data is cut to.
MAX_ROWS = 5_000
MAX_COLUMNS = 100
#: Most characters that are shown of a cell.
MAX_CELL = 2_000


def sheet_table(rows: Iterable[list[str]], *, behind: int = 0) -> str:
    """The first rows and columns as a table, headed by its first row; "" without filled cells.

    What is left out, with `behind` further rows that were not even read, is said below it.
    """
    source = iter(rows)
    widest = 0
    cut: list[list[str]] = []
    for row in islice(source, MAX_ROWS):
        filled = (place for place in range(len(row), 0, -1) if row[place - 1].strip())
        widest = max(widest, next(filled, 0))
        cut.append([_cell(cell) for cell in row[:MAX_COLUMNS]])
    kept = [row for row in cut if any(row)]
    used = sorted({column for row in kept for column, cell in enumerate(row) if cell})
    shown = table([[row[column] if column < len(row) else "" for column in used] for row in kept])
    rest = behind + sum(any(cell.strip() for cell in row) for row in source)
    return blocks([shown, not_shown(rest, "rows"), not_shown(widest - MAX_COLUMNS, "columns")])


def _cell(text: str) -> str:
    return text.strip() if len(text) <= MAX_CELL else text[:MAX_CELL].strip() + "…"

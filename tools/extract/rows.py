"""Rows of cells as a Markdown table: within limits, without its empty rows and columns."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from spadework.tools.extract.writing import table

#: What a sheet or a table of data is cut to.
MAX_ROWS = 5_000
MAX_COLUMNS = 100
#: Most characters that are shown of a cell.
MAX_CELL = 2_000


def sheet_table(rows: Iterable[list[str]]) -> str:
    """The first rows and columns as a table, its first row the heading; "" when all cells are empty."""
    cut = [[cell[:MAX_CELL].strip() for cell in row[:MAX_COLUMNS]] for row in islice(rows, MAX_ROWS)]
    filled = [row for row in cut if any(row)]
    used = sorted({column for row in filled for column, cell in enumerate(row) if cell})
    return table([[row[column] if column < len(row) else "" for column in used] for row in filled])

"""Tables of data in a page, as rows of cells; tables that only lay out a page are none."""

from __future__ import annotations

import re
from collections import defaultdict

from lxml.html import HtmlElement

from spadework.tools.extract.tree import text_of

#: What a table of data has at least and at most.
MIN_ROWS, MIN_COLUMNS = 2, 2
MAX_CELL_CHARS = 1_000
MAX_LINK_SHARE = 0.7

#: A cell may claim to span any number of rows and columns.
MAX_SPAN = 50

_NOT_DATA = ".//table | .//form | .//h1 | .//h2 | .//h3 | .//iframe | .//article"
_SPECIAL = re.compile(r"([\\`*<]|(?<!\w)_|_(?!\w))")


def data_rows(table: HtmlElement) -> list[list[str]]:
    """The rows of a table of data, cells as Markdown text, a spanned place empty; [] for a table that lays out the page."""
    if table.get("role") in ("presentation", "none") or table.xpath(_NOT_DATA):
        return []
    rows = _grid(table)
    if len(rows) < MIN_ROWS or max(map(len, rows)) < MIN_COLUMNS or max(len(cell) for row in rows for cell in row) > MAX_CELL_CHARS:
        return []
    linked = sum(len(text_of(link)) for link in table.iter("a"))
    return rows if linked <= MAX_LINK_SHARE * len(text_of(table)) or table.find(".//th") is not None else []


def _grid(table: HtmlElement) -> list[list[str]]:
    taken: defaultdict[int, set[int]] = defaultdict(set)
    rows: list[list[str]] = []
    for number, row in enumerate(table.iter("tr")):
        cells: dict[int, str] = {}
        column = 0
        for cell in row.iter("td", "th"):
            while column in taken[number]:
                column += 1
            cells[column] = _SPECIAL.sub(r"\\\1", " ".join(text_of(cell).split()))
            for down in range(1, _span(cell, "rowspan")):
                taken[number + down].update(range(column, column + _span(cell, "colspan")))
            column += _span(cell, "colspan")
        width = max([*cells, *taken[number], -1]) + 1
        if any(cells.values()):
            rows.append([cells.get(place, "") for place in range(width)])
    return rows


def _span(cell: HtmlElement, name: str) -> int:
    value = cell.get(name, "1").strip()[:9]
    return min(max(int(value), 1), MAX_SPAN) if value.isdecimal() else 1

"""Find the tables of a PDF page by their ruled lines, or by aligned columns near a caption."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, islice, pairwise
from typing import Any

import pypdfium2

from spadework.tools.extract.markdown_writer import sheet_table
from spadework.tools.extract.pdf.lines import Line, is_figure, is_turned, words_of

_PDFIUM: Any = pypdfium2.raw  # pypdfium2's raw module has no types.
#: Maximum thickness of a rule (a drawn straight line), in points.
THICK = 3.0
#: Minimum length of a rule, in points.
LONG = 6.0
#: Maximum distance at which two rules (drawn lines) count as meeting, in points.
NEAR = 3.0
#: At most MOST_DRAWN drawn objects are examined per page. A page with more than MOST_RULES rules
#: (drawn lines) counts as a drawing without tables.
MOST_DRAWN, MOST_RULES = 10_000, 600


class _Unproven(Exception):
    """The rules (drawn lines) do not form a table."""


@dataclass
class _Grid:
    """A group of touching drawn lines: vertical (x, bottom, top), horizontal (y, left, right)."""

    upright: list[tuple[float, float, float]] = field(default_factory=list)
    level: list[tuple[float, float, float]] = field(default_factory=list)


def with_tables(page: Any, text_page: Any, lines: list[list[Line]]) -> list[list[Line]]:
    """Replace lines inside ruled tables with Markdown tables, except on rotated pages. A table is
    left as lines if a word crosses a cell border.
    """
    words: list[Line] | None = None
    if is_turned(text_page):
        return lines
    for grid in _grids(*_rules(page)):
        across = _marks([x for x, _, _ in grid.upright])
        down = _marks([y for y, _, _ in grid.level])
        if len(across) < 3 or len(down) < 3:
            continue
        if words is None:
            words = [word for line in words_of(text_page) for word in line]
        inside = [word for word in words if _stands_in(word, across, down)]
        try:
            bands = [_band(grid, inside, across, *edges) for edges in pairwise(down)]
            lines = _replaced(lines, across, down, sheet_table(chain(*reversed(bands))))
        except _Unproven:
            continue
    return lines


def _replaced(
    lines: list[list[Line]], across: list[float], down: list[float], shown: str
) -> list[list[Line]]:
    parted = [_split(line, across, down) for line in lines]
    place = next((n for n, (inside, _) in enumerate(parted) if inside), None)
    if place is None or not shown:
        return lines
    first = replace(parted[place][0][0], text="", table=shown, left=across[0], right=across[-1])
    kept = [outside for _, outside in parted]
    kept.insert(place, [first])
    return [line for line in kept if line]


def _split(
    line: list[Line], across: list[float], down: list[float]
) -> tuple[list[Line], list[Line]]:
    """Return a line's parts inside and outside a table. Raises _Unproven if one spans an edge."""
    inside = [part for part in line if _stands_in(part, across, down)]
    if any(part.left < across[0] - NEAR or part.right > across[-1] + NEAR for part in inside):
        raise _Unproven
    return inside, [part for part in line if part not in inside]


def _rules(page: Any) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
    upright, level = [], []
    for left, bottom, right, top in _drawn_boxes(page):
        if right - left <= THICK and top - bottom >= LONG:
            upright.append(((left + right) / 2, bottom, top))
        elif top - bottom <= THICK and right - left >= LONG:
            level.append(((bottom + top) / 2, left, right))
    return (upright, level) if len(upright) + len(level) <= MOST_RULES else ([], [])


def _drawn_boxes(page: Any) -> Iterator[tuple[float, float, float, float]]:
    for path in islice(
        page.get_objects(filter=[_PDFIUM.FPDF_PAGEOBJ_PATH], max_depth=3), MOST_DRAWN
    ):
        left, bottom, right, top = path.get_bounds()
        if min(right - left, top - bottom) > THICK and _is_frame(path):
            yield from (
                (left, bottom, left, top),
                (right, bottom, right, top),
                (left, bottom, right, bottom),
                (left, top, right, top),
            )
        else:
            yield left, bottom, right, top


def _is_frame(path: Any) -> bool:
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    _PDFIUM.FPDFPath_GetDrawMode(path, fill, stroke)
    return bool(stroke.value) and _PDFIUM.FPDFPath_CountSegments(path) in (4, 5)


def _grids(
    upright: list[tuple[float, float, float]], level: list[tuple[float, float, float]]
) -> list[_Grid]:
    grids: list[_Grid] = []
    for y, left, right in level:
        met = _Grid([], [(y, left, right)])
        met.upright = [rule for rule in upright if _meet(rule, (y, left, right))]
        joined = [grid for grid in grids if not set(grid.upright).isdisjoint(met.upright)]
        for grid in joined:
            met.upright += [rule for rule in grid.upright if rule not in met.upright]
            met.level += grid.level
            grids.remove(grid)
        grids.append(met)
    return grids


def _meet(upright: tuple[float, float, float], level: tuple[float, float, float]) -> bool:
    (x, bottom, top), (y, left, right) = upright, level
    return left - NEAR <= x <= right + NEAR and bottom - NEAR <= y <= top + NEAR


def _marks(places: list[float]) -> list[float]:
    marks: list[float] = []
    for place in sorted(places):
        if not marks or place - marks[-1] > NEAR:
            marks.append(place)
    return marks


def _stands_in(line: Line, across: list[float], down: list[float]) -> bool:
    level, upright = (line.left + line.right) / 2, line.bottom + line.size / 2
    return across[0] <= level <= across[-1] and down[0] <= upright <= down[-1]


def _band(
    grid: _Grid, words: list[Line], across: list[float], bottom: float, top: float
) -> list[list[str]]:
    """Return the table rows between two heights. Raises _Unproven if a word crosses a border."""
    found = [word for word in words if bottom <= word.bottom + word.size / 2 < top]
    lines = _in_lines(found)
    cells = [_cells(grid, line, across, (bottom + top) / 2) for line in lines]
    columns = list(zip(*cells, strict=True))
    if any(sum(map(is_figure, column)) > 1 for column in columns):
        return cells
    return [[" ".join(filter(None, column)) for column in columns]] if cells else []


def _in_lines(words: list[Line]) -> list[list[Line]]:
    lines: list[list[Line]] = []
    for word in sorted(words, key=lambda word: -word.bottom):
        if lines and lines[-1][0].bottom - word.bottom < word.size / 2:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [sorted(line, key=lambda word: word.left) for line in lines]


def _cells(grid: _Grid, words: list[Line], across: list[float], middle: float) -> list[str]:
    ruled = [
        mark
        for mark in across[1:-1]
        if any(abs(x - mark) <= NEAR and low <= middle <= high for x, low, high in grid.upright)
    ]
    starts = [across[0], *ruled]
    cells = [""] * (len(across) - 1)
    for word in words:
        if any(word.left + NEAR < mark < word.right - NEAR for mark in ruled):
            raise _Unproven
        level = (word.left + word.right) / 2
        place = across.index(max(start for start in starts if start <= level))
        cells[place] = f"{cells[place]} {word.text}".strip()
    return cells


CAPTION = re.compile(r"(?:Table|Tab\.|Tabelle|Tableau|Tabla|Tabela|Tabella)\s+[\dIVXA-Z][\w.]*\b")
#: Maximum number of lines in the caption above a table.
CAPTION_LINES = 4
#: A table must have at least this many rows with more than one cell.
LEAST_ROWS = 3
#: Maximum distance between table rows, in line heights.
ROW_GAP = 3.0

Parts = list[Line]


def with_aligned_tables(lines: list[Parts]) -> list[Parts]:
    """Replace aligned lines above or below a table caption with a Markdown table."""
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
    """Return rows as a Markdown table, or "" if there are too few or their columns are unclear."""
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
    return max(
        range(len(columns)),
        key=lambda place: min(part.right, columns[place][1]) - max(part.left, columns[place][0]),
    )

"""The tables of a PDF page whose cells are ruled: found by their lines, read cell by cell."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, pairwise
from typing import Any

import pypdfium2

from spadework.tools.extract.pdf_lines import Line
from spadework.tools.extract.writing import sheet_table

_PDFIUM: Any = pypdfium2.raw  # it has no types
#: In points: the thickest and the shortest rule, and how near to each other rules meet.
THICK, LONG, NEAR = 3.0, 6.0, 3.0
#: A page with more drawn things, or more rules, is a drawing.
MOST_DRAWN, MOST_RULES = 10_000, 600


@dataclass
class _Grid:
    """Rules that meet: of the upright ones (x, bottom, top), of the others (y, left, right)."""

    upright: list[tuple[float, float, float]] = field(default_factory=list)
    level: list[tuple[float, float, float]] = field(default_factory=list)


def with_tables(page: Any, text_page: Any, lines: list[list[Line]]) -> list[list[Line]]:
    """The lines of a page, those in a ruled table replaced by the table."""
    for grid in _grids(*_rules(page)):
        across = _marks([x for x, _, _ in grid.upright])
        down = _marks([y for y, _, _ in grid.level])
        if len(across) < 3 or len(down) < 3:
            continue
        inside = [place for place, line in enumerate(lines) if _stands_in(line[0], across, down)]
        heights = reversed(list(pairwise(down)))
        shown = sheet_table(_row(text_page, grid, across, *height) for height in heights)
        if inside and shown:
            first = replace(
                lines[inside[0]][0], text="", table=shown, left=across[0], right=across[-1]
            )
            lines = [
                [first] if place == inside[0] else line
                for place, line in enumerate(lines)
                if place not in inside[1:]
            ]
    return lines


def _rules(page: Any) -> tuple[list[tuple[float, float, float]], list[tuple[float, float, float]]]:
    upright, level = [], []
    for left, bottom, right, top in _drawn_boxes(page):
        if right - left <= THICK and top - bottom >= LONG:
            upright.append(((left + right) / 2, bottom, top))
        elif top - bottom <= THICK and right - left >= LONG:
            level.append(((bottom + top) / 2, left, right))
    return (upright, level) if len(upright) + len(level) <= MOST_RULES else ([], [])


def _drawn_boxes(page: Any) -> Iterator[tuple[float, float, float, float]]:
    """The boxes of what is drawn on a page; of a frame, those of its four sides."""
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
    """The rules in groups that meet."""
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
    """Places in their order, those that are near to each other as one."""
    marks: list[float] = []
    for place in sorted(places):
        if not marks or place - marks[-1] > NEAR:
            marks.append(place)
    return marks


def _stands_in(line: Line, across: list[float], down: list[float]) -> bool:
    middle = line.bottom + line.size / 2
    return across[0] - NEAR <= line.left <= across[-1] + NEAR and down[0] <= middle <= down[-1]


def _row(text_page: Any, grid: _Grid, across: list[float], bottom: float, top: float) -> list[str]:
    """The cells of a row; one that goes over several columns stands in the first of them."""
    middle = (bottom + top) / 2
    cells, start = [], across[0]
    for mark in across[1:]:
        if any(abs(x - mark) <= NEAR and low <= middle <= high for x, low, high in grid.upright):
            cells.append(" ".join(text_page.get_text_bounded(start, bottom, mark, top).split()))
            start = mark
        else:
            cells.append("")
    if len(cells) > 1 and not cells[0] and start > across[0]:
        return _from_left(cells)
    return cells


def _from_left(cells: list[str]) -> list[str]:
    """Texts of cells that go over several columns moved to the first of these."""
    moved = [""] * len(cells)
    free = 0
    for place, cell in enumerate(cells):
        if cell:
            moved[free] = cell
            free = place + 1
    return moved

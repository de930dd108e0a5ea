"""Make a bar chart from a table's figures. Each bar keeps its row's citation marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spadework.tools.export.sheet import Block, Item, Marker, Run, words
from spadework.tools.text.facts import figures

#: Minimum and maximum rows of a table with a chart.
LEAST_BARS, MOST_BARS = 2, 12
#: Numbers without a unit that may be years or versions.
_BARE = re.compile(r"[12]\d{3}|\d+(?:[.,]\d+)+")


@dataclass(frozen=True)
class Bar:
    """A bar: its label's cell, its value's cell with citation marks, and its length in percent."""

    label: Item
    value: Item
    percent: float


@dataclass(frozen=True)
class Chart:
    """The bars of a table column. `name` is the column heading."""

    name: tuple[Run, ...]
    bars: tuple[Bar, ...]


def chart_of(table: Block, language: str) -> Chart | None:
    """Return a chart of the first column of cited figures in one unit, or None.
    `language` is the report's.
    """
    if not LEAST_BARS <= len(table.rows) <= MOST_BARS:
        return None
    for column in range(1, len(table.columns)):
        values = [_with_marks(row, column) for row in table.rows]
        if sizes := _sizes(values, language):
            most = max(sizes)
            bars = (
                Bar(row[0], value, round(100 * size / most, 1))
                for row, value, size in zip(table.rows, values, sizes, strict=True)
            )
            return Chart(table.columns[column], tuple(bars))
    return None


def _sizes(values: Sequence[Item], language: str) -> list[float]:
    """Return the cells' figures, or [] unless all are cited, in one unit and unambiguous."""
    units, sizes = set(), []
    for value in values:
        text = " ".join(words(said.runs) for said in value)
        found = figures(text, language)
        read = {one.value for figure in found for one in figure.readings if not one.dimension}
        if len(found) != 1 or len(read) != 1 or not any(said.markers for said in value):
            return []
        before, _, after = text.partition(found[0].text)
        units.add((before.strip(), after.strip().casefold()))
        sizes.append(read.pop())
    if units == {("", "")} and all(_BARE.fullmatch(words(each[0].runs).strip()) for each in values):
        return []
    return sizes if len(units) == 1 and min(sizes) >= 0 < max(sizes) else []


def _with_marks(row: Sequence[Item], column: int) -> Item:
    cell = row[column]
    if not cell or any(said.markers for said in cell):
        return cell
    whole: tuple[Marker, ...] = next((s.markers for c in row[::-1] for s in c if s.markers), ())
    return (*cell[:-1], replace(cell[-1], markers=whole))

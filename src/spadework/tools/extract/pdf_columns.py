"""A PDF page's lines in reading order, also where columns stand side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from statistics import median

from spadework.tools.extract.pdf_lines import Line

#: A gutter runs through the gaps of so many lines at least, and the lines beside it have so many
#: letters: fewer are a list of values.
LEAST_LINES = 4
LEAST_LETTERS = 20


def in_order(lines: list[list[Line]]) -> list[Line]:
    """The lines of a page; of two columns the left one first, between lines that go over both."""
    gutter = _gutter([line for line in lines if len(line) > 1])
    if gutter is None:
        return [_join_lines(line) for line in lines]
    return list(_by_columns(lines, gutter))


def _gutter(parted: list[list[Line]]) -> float | None:
    """Where the gap between two columns is: in the most lines that have one."""
    gaps = [(left.right, right.left) for line in parted for left, right in pairwise(line)]
    if len(gaps) < LEAST_LINES:
        return None
    middles = ((start + end) / 2 for start, end in gaps)
    place = max(middles, key=lambda x: sum(start < x < end for start, end in gaps))
    pairs = (pair for line in parted for pair in pairwise(line))
    sides = [(left, right) for left, right in pairs if left.right < place < right.left]
    if len(sides) < max(LEAST_LINES, len(parted) // 2):
        return None
    shorter = median(min(len(left.text), len(right.text)) for left, right in sides)
    return place if shorter >= LEAST_LETTERS else None


def _by_columns(lines: list[list[Line]], gutter: float) -> Iterator[Line]:
    left: list[Line] = []
    right: list[Line] = []
    for line in lines:
        before = [part for part in line if part.right <= gutter]
        behind = [part for part in line if part.left >= gutter]
        if len(before) + len(behind) == len(line):
            left += [_join_lines(before)] if before else []
            right += [_join_lines(behind)] if behind else []
        else:
            yield from (*left, *right, _join_lines(line))
            left, right = [], []
    yield from (*left, *right)


def _join_lines(parts: list[Line]) -> Line:
    if len(parts) == 1:
        return parts[0]
    text = " ".join(part.text for part in parts)
    bold, fixed = all(part.bold for part in parts), all(part.fixed for part in parts)
    return replace(parts[0], text=text, right=parts[-1].right, bold=bold, fixed=fixed)

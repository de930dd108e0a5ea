"""The page's own region: the element that, taken whole, would give the best text of the page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from spadework.tools.extract.page.page_blocks import Block, Frame


class Sums:
    """Sums of a number over the blocks of any stretch of a page: `upto[i]` is that of the first
    `i`.
    """

    __slots__ = ("upto",)

    def __init__(self, values: Sequence[float]) -> None:
        self.upto = [*accumulate(values, initial=0.0)]

    def of(self, start: int, end: int) -> float:
        """The sum over the blocks `start:end`."""
        return self.upto[end] - self.upto[start]


def region_of(frames: list[Frame], chars: Sums, blocks: list[Block], chances: list[float]) -> Frame:
    """The element with the best expected F1 of its characters, the innermost of equals. `chars` are
    those of the blocks.
    """
    likely = Sums([block.chars * chance for block, chance in zip(blocks, chances, strict=True)])
    expected = likely.of(0, len(blocks)) + 1e-9
    best, found = -1.0, frames[0]
    for frame in frames:
        held = likely.of(frame.start, frame.end)
        value = 2 * held / (chars.of(frame.start, frame.end) + expected)
        if value >= best:
            best, found = value, frame
    return found

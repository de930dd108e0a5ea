"""What of a page belongs together: its own region, and the blocks that are made alike."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from spadework.tools.extract.page.constants import LEVELLED
from spadework.tools.extract.page.page_blocks import Block, Frame


class Sums:
    """Sums of a number over any stretch of blocks: `upto[i]` is that of the first `i`."""

    __slots__ = ("upto",)

    def __init__(self, values: Sequence[float]) -> None:
        self.upto = [*accumulate(values, initial=0.0)]

    def of(self, start: int, end: int) -> float:
        """The sum over the blocks `start:end`."""
        return self.upto[end] - self.upto[start]


def region_of(frames: list[Frame], chars: Sums, blocks: list[Block], chances: list[float]) -> Frame:
    """The element whose characters have the best expected F1, the innermost of equals."""
    likely = Sums([block.chars * chance for block, chance in zip(blocks, chances, strict=True)])
    expected = likely.of(0, len(blocks)) + 1e-9
    best, found = -1.0, frames[0]
    for frame in frames:
        held = likely.of(frame.start, frame.end)
        value = 2 * held / (chars.of(frame.start, frame.end) + expected)
        if value >= best:
            best, found = value, frame
    return found


def made_alike(blocks: list[Block], frames: list[Frame]) -> list[list[int]]:
    """The places of blocks of the same make, together; `frames` come with parents first."""
    numbered: dict[tuple[int, tuple[str, ...]], int] = {}
    makes: dict[Frame, int] = {}
    for frame in frames:
        above = makes[frame.parent] if frame.parent is not None else -1
        makes[frame] = numbered.setdefault((above, frame.traits), len(numbered))
    found: dict[tuple[str, int], list[int]] = {}
    for i, block in enumerate(blocks):
        found.setdefault((block.kind, makes[block.frame]), []).append(i)
    return list(found.values())


def levelled(chances: list[float], masses: Sequence[float], alike: list[list[int]]) -> list[float]:
    """The chances, each moved towards the mean of its make: what is made alike is taken alike."""
    found = list(chances)
    for places in alike:
        if len(places) > 1:
            mass = sum([masses[i] for i in places])
            mean = sum([masses[i] * chances[i] for i in places]) / mass
            for i in places:
                found[i] += LEVELLED * (mean - chances[i])
    return found

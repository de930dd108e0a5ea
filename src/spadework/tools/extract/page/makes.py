"""Blocks that are made alike: of one kind, in elements of the same make all the way up."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.tools.extract.page.constants import LEVELLED
from spadework.tools.extract.page.page_blocks import Block, Frame


def made_alike(blocks: list[Block], frames: list[Frame]) -> list[list[int]]:
    """The places of the blocks, those that are made alike together. `frames` are every element that
    holds a block, each after those it stands in.
    """
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
    """The chances, each moved towards the mean of those of the same make: what is made alike is
    taken alike.
    """
    found = list(chances)
    for places in alike:
        if len(places) > 1:
            mass = sum([masses[i] for i in places])
            mean = sum([masses[i] * chances[i] for i in places]) / mass
            for i in places:
                found[i] += LEVELLED * (mean - chances[i])
    return found

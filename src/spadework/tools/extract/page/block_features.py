"""Compute block features for the scorer, and find a page's content region."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from spadework.tools.extract.page.constants import LEVELLED
from spadework.tools.extract.page.page_blocks import Block, Frame

_PRICE = re.compile(r"[$€£¥]\s?\d|\d\s?(?:€|£|USD|EUR)")
_MONEY = ("$", "€", "£", "¥", "USD", "EUR")
_LEVELS = 5
_PRICED = 200
#: Elements that usually contain a page's content.
LANDMARKS = frozenset(("tag:main", "role:main", "tag:article"))
_STEPS = "abcdefghijk"


def size(chars: int) -> str:
    """Return a length as one of eleven letters, on a log2 scale."""
    return _STEPS[min(10, (chars >> 2).bit_length())]


def density(link_chars: int, chars: int) -> str:
    """Return the fraction of the text that is in links, as a digit from 0 to 4."""
    if not link_chars:
        return "0"
    share = link_chars / max(1, chars)
    return "1" if share < 0.2 else "2" if share < 0.5 else "3" if share < 0.9 else "4"


@lru_cache(maxsize=4_096)
def _around(level: int, shape: str, repeats: int) -> tuple[str, str]:
    return f"shape{level} {shape}", f"repeats{level} {repeats}"


def as_parent(traits: tuple[str, ...]) -> list[str]:
    """Return the features that an element passes to its children's blocks."""
    return ["parent " + trait for trait in traits]


class PageView:
    """A page's blocks and their features. The scorer ignores features without a weight."""

    def __init__(self, blocks: list[Block]) -> None:
        self.blocks = blocks
        self._chars = [0]
        self._links = [0]
        for block in blocks:
            self._chars.append(self._chars[-1] + block.chars)
            self._links.append(self._links[-1] + block.link_chars)
        self._own = ["start", *map(_kind_features, blocks), "end"]
        self._first_h1 = next((i for i, block in enumerate(blocks) if block.kind == "h1"), -1)
        self.frames = frames_of(blocks)
        self._like = Counter((id(frame.parent), frame.traits) for frame in self.frames)
        tags = {trait for frame in self.frames for trait in frame.traits if trait in LANDMARKS}
        self._has = _landmarks(tags)
        self._shapes: dict[Frame, tuple[str, int]] = {}
        for frame in self.frames:  # Parents come before children.
            self._shapes[frame] = self._shape(frame)

    def _shape(self, frame: Frame) -> tuple[str, int]:
        around = frame.parent
        if around is not None and (around.start, around.end) == (frame.start, frame.end):
            shape = self._shapes[around][0]
        else:
            chars = self._chars[frame.end] - self._chars[frame.start]
            shape = size(chars) + density(self._links[frame.end] - self._links[frame.start], chars)
        return shape, self._like[id(frame.parent), frame.traits].bit_length()

    def of_frame(self, frame: Frame, around: frozenset[str] | set[str]) -> list[str]:
        """Return an element's positional features. `around` holds its and its ancestors' traits."""
        found = [f"in {self._has}>{_landmarks(around)}"]
        above: Frame | None = frame
        most = 0
        for level in range(_LEVELS):
            if above is None:
                break
            shape, repeats = self._shapes[above]
            if repeats > most:
                most = repeats
            found += _around(level, shape, most)
            above = above.parent
        return found

    def of_block(self, i: int) -> list[str]:
        """Return the features of block `i`, excluding the features of surrounding elements."""
        own = self._own
        after = i - self._first_h1
        found = ["block " + own[i + 1], "before " + own[i], "after " + own[i + 2]]
        headed = f"{'-' if after < 0 else '+'}{size(abs(after))}"
        found.append(f"h1 {'none' if self._first_h1 < 0 else headed}")
        block = self.blocks[i]
        money = block.chars <= _PRICED and any(map(block.text.__contains__, _MONEY))
        if money and _PRICE.search(block.text):
            found.append("has price")
        return found


def _landmarks(traits: frozenset[str] | set[str]) -> str:
    return "m" * ("tag:main" in traits or "role:main" in traits) + "a" * ("tag:article" in traits)


def _kind_features(block: Block) -> str:
    kind = "li" if block.inside and block.kind in ("p", "div") else block.kind
    return f"{kind} {size(block.chars)}{density(block.link_chars, block.chars)}"


def frames_of(blocks: list[Block]) -> list[Frame]:
    """Return all elements that contain a block, parents before children."""
    found: dict[Frame, None] = {}
    for block in blocks:
        fresh = []
        frame: Frame | None = block.frame
        while frame is not None and frame not in found:
            fresh.append(frame)
            frame = frame.parent
        found |= dict.fromkeys(reversed(fresh))
    return list(found)


class Sums:
    """Prefix sums: `upto[i]` is the sum of the first `i` values."""

    __slots__ = ("upto",)

    def __init__(self, values: Sequence[float]) -> None:
        self.upto = [*accumulate(values, initial=0.0)]

    def of(self, start: int, end: int) -> float:
        """Return the sum of `values[start:end]`."""
        return self.upto[end] - self.upto[start]


def region_of(frames: list[Frame], chars: Sums, blocks: list[Block], chances: list[float]) -> Frame:
    """Return the element that gives the best expected F1 as the content. Inner ones win ties."""
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
    """Group the indices of blocks of equal kind and ancestry. `frames` lists parents first."""
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
    """Move each block's probability towards the `masses`-weighted mean of its group in `alike`."""
    found = list(chances)
    for places in alike:
        if len(places) > 1:
            mass = sum([masses[i] for i in places])
            mean = sum([masses[i] * chances[i] for i in places]) / mass
            for i in places:
                found[i] += LEVELLED * (mean - chances[i])
    return found

"""What the second stage sees of a block: its score, those around it, and where it stands in the
page's own region.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from itertools import pairwise

from spadework.tools.extract.page.blocks import Block, Frame
from spadework.tools.extract.page.region import Sums, region_of

_REACH = (1, 3, 8)
_LEVELS = 5
_LONG = 120
_FAR = 50
_KINDS = {
    "p": 0, "div": 1, "li": 2, "dd": 3, "dt": 4, "caption": 5, "summary": 6, "cell": 7, "label": 8,
    "button": 9, "pre": 10, "table": 11, "h1": 12, "h2": 13, "h3": 14, "h4": 15, "h5": 16, "h6": 17,
}  # fmt: skip
PAGE_KINDS = ("article", "documentation", "forum", "listing", "collection", "product", "service")
_STOPS = ".!?:;…。！？"
#: So many numbers has every block.
NUMBERS = 46


class Surroundings:
    """The numbers of every block. Means are over squashed first scores, each block weighing as the
    root of its length.
    """

    def __init__(
        self, blocks: list[Block], frames: list[Frame], scores: list[float], kind: str
    ) -> None:
        self.blocks, self.scores = blocks, scores
        masses = [math.sqrt(block.chars + 1) for block in blocks]
        squashed = [math.tanh(score / 2) for score in scores]
        self._mass = Sums(masses)
        self._sum = Sums([m * s for m, s in zip(masses, squashed, strict=True)])
        self._chars = Sums([block.chars for block in blocks])
        self._links = Sums([block.link_chars for block in blocks])
        chances = [(1 + s) / 2 for s in squashed]
        self.region = region_of(frames, blocks, chances)
        self._long = [
            i for i, b in enumerate(blocks) if b.chars >= _LONG and b.link_chars * 4 < b.chars
        ]
        self._frames: dict[int, list[float]] = {}
        self._parts: dict[int, list[float]] = {}
        self._first_h1 = next((i for i, block in enumerate(blocks) if block.kind == "h1"), -1)
        self._sections = self._section_numbers()
        chars = self._chars.of(0, len(blocks))
        region = self.region
        self._page = [
            float(PAGE_KINDS.index(kind)),
            math.log2(1 + len(blocks)),
            self._chars.of(region.start, region.end) / (chars + 1),
            self._mean(region.start, region.end),
            self._density(0, len(blocks)),
        ]

    def _mean(self, start: int, end: int) -> float:
        mass = self._mass.of(start, end)
        return self._sum.of(start, end) / mass if mass else 0.0

    def _density(self, start: int, end: int) -> float:
        chars = self._chars.of(start, end)
        return self._links.of(start, end) / chars if chars else 0.0

    def of(self, i: int) -> list[float]:
        """The numbers of block `i`."""
        count, block = len(self.blocks), self.blocks[i]
        found = [self.scores[i]]
        for reach in _REACH:
            found.append(self._mean(max(0, i - reach), i))
            found.append(self._mean(i + 1, min(count, i + 1 + reach)))
        return [
            *found,
            *self._elements(block.frame),
            *self._own(block),
            *self._place(i),
            *self._part(block.frame),
            *self._sections[i],
            *self._page,
        ]

    def _elements(self, frame: Frame) -> list[float]:
        key = id(frame)
        if key not in self._frames:
            found = []
            above = frame
            for level in range(_LEVELS):
                found.append(self._mean(above.start, above.end))
                if level < 3:
                    found.append(math.log2(1 + self._chars.of(above.start, above.end)))
                    found.append(self._density(above.start, above.end))
                above = above.parent or above
            found.append(self._mean(0, len(self.blocks)))
            self._frames[key] = found
        return self._frames[key]

    def _own(self, block: Block) -> list[float]:
        text = block.text
        kind = "li" if block.inside and block.kind in ("p", "div") else block.kind
        return [
            math.log2(1 + block.chars),
            block.link_chars / (block.chars or 1),
            float(_KINDS.get(kind, 0)),
            float(text.rstrip('*_`)”"»')[-1:] in _STOPS),
            text.count(",") / (len(text) + 1),
        ]

    def _place(self, i: int) -> list[float]:
        """Where a block stands among the long paragraphs, and in the region."""
        long, region = self._long, self.region
        at = bisect_left(long, i)
        before = i - long[at - 1] if at else _FAR
        nth = at + (at < len(long) and long[at] == i)
        after = long[nth] - i if nth < len(long) else _FAR
        upto = self._chars
        chars = upto.of(region.start, region.end) + 1
        return [
            float(min(_FAR, before)),
            float(min(_FAR, after)),
            at / (len(long) or 1),
            float(region.start <= i < region.end),
            max(-0.2, min(1.2, (upto.of(0, i) - upto.of(0, region.start)) / chars)),
            float(max(-_FAR, min(_FAR, i - region.start))),
            float(max(-_FAR, min(_FAR, region.end - i))),
            float(max(-_FAR, min(_FAR, i - self._first_h1)))
            if self._first_h1 >= 0
            else -2.0 * _FAR,
        ]

    def _part(self, frame: Frame) -> list[float]:
        """The child of the region that holds a block."""
        key = id(frame)
        if key not in self._parts:
            depth, part = 0, frame
            while (
                part.parent is not None
                and part is not self.region
                and part.parent is not self.region
            ):
                depth, part = depth + 1, part.parent
            region = self._chars.of(self.region.start, self.region.end) + 1
            self._parts[key] = [
                float(min(depth, 12)),
                self._mean(part.start, part.end),
                self._density(part.start, part.end),
                self._chars.of(part.start, part.end) / region,
            ]
        return self._parts[key]

    def _section_numbers(self) -> list[tuple[float, ...]]:
        """What stands under the heading over each block: its mean, links, size, and how far it
        is.
        """
        ends = [i for i, b in enumerate(self.blocks) if b.kind[0] == "h" and b.kind[1:].isdigit()]
        found: list[tuple[float, ...]] = []
        edges = [0, *ends, len(self.blocks)]
        for start, end in pairwise(edges):
            if start == end:
                continue
            mean = self._mean(start, end)
            density = self._density(start, end)
            size = math.log2(1 + self._chars.of(start, end) / (end - start))
            for i in range(start, end):
                found.append(
                    (
                        mean,
                        density,
                        size,
                        float(min(_FAR, i - start)),
                        math.tanh(self.scores[start] / 2),
                    )
                )
        return found

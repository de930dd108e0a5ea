"""How likely each block is content: a sum of weights over its features, then smoothed over its
surroundings, then cut.

Both sums are logistic regressions; `benchmarks/reading_sweep.py` fits their weights on pages with
known content.
"""

from __future__ import annotations

import math
from functools import lru_cache
from importlib.resources import files

from spadework.tools.extract.page.blocks import Block
from spadework.tools.extract.page.features import LANDMARKS, PageView, as_parent

_REACH = (1, 3, 8)
_LEVELS = 5
_NOTHING: frozenset[str] = frozenset()


@lru_cache(maxsize=1)
def weights() -> dict[str, float]:
    """The fitted weight of every feature."""
    lines = (
        files("spadework.tools.extract.page").joinpath("weights.txt").read_text("utf8").splitlines()
    )
    return {
        name: float(value)
        for name, _, value in (line.rpartition("\t") for line in lines if not line.startswith("#"))
    }


def first_scores(view: PageView) -> list[float]:
    """The log-odds of each block by itself and where it stands."""
    table = weights()
    bias = table.get("(bias)", 0.0)
    seen: dict[int, frozenset[str]] = {}
    around: dict[int, float] = {}
    local: dict[int, float] = {}
    known: dict[tuple[str, ...], tuple[list[str], float]] = {}
    for frame in view.frames:  # parents come before their children
        if frame.traits not in known:
            parent_sum = sum([table.get(name, 0.0) for name in as_parent(frame.traits)])
            known[frame.traits] = (
                [trait for trait in frame.traits if trait in table or trait in LANDMARKS],
                parent_sum,
            )
        parent = id(frame.parent)
        above = seen.get(parent, _NOTHING)
        fresh = [trait for trait in known[frame.traits][0] if trait not in above]
        seen[id(frame)] = above.union(fresh) if fresh else above
        around[id(frame)] = around.get(parent, bias) + sum(
            [table.get(trait, 0.0) for trait in fresh]
        )
    scores = []
    for i, block in enumerate(view.blocks):
        frame = block.frame
        key = id(frame)
        if key not in local:
            names = view.of_frame(frame, seen[key])
            above_sum = known[frame.parent.traits][1] if frame.parent is not None else 0.0
            local[key] = (
                around[key] + above_sum + sum([table[name] for name in names if name in table])
            )
        scores.append(local[key] + sum([table[name] for name in view.of_block(i) if name in table]))
    return scores


class Surroundings:
    """Means of the squashed first scores over neighbours, elements and the page, each block
    weighing as the root of its length.
    """

    def __init__(self, blocks: list[Block], scores: list[float]) -> None:
        self.blocks, self.scores = blocks, scores
        self._sum, self._mass = [0.0], [1e-6]
        for block, score in zip(blocks, scores, strict=True):
            mass = math.sqrt(block.chars + 1)
            self._sum.append(self._sum[-1] + mass * math.tanh(score / 2))
            self._mass.append(self._mass[-1] + mass)
        self._frames: dict[int, list[float]] = {}

    def mean(self, start: int, end: int) -> float:
        """The mean over the blocks `start:end`; 0 when there are none."""
        mass = self._mass[end] - self._mass[start]
        return (self._sum[end] - self._sum[start]) / mass if mass else 0.0

    def of(self, i: int) -> list[float]:
        """The numbers that the second weights multiply, for block `i`."""
        count = len(self.blocks)
        found = [self.scores[i]]
        for reach in _REACH:
            found.append(self.mean(max(0, i - reach), i))
            found.append(self.mean(i + 1, min(count, i + 1 + reach)))
        return found + self._elements(i)

    def _elements(self, i: int) -> list[float]:
        frame = self.blocks[i].frame
        key = id(frame)
        if key not in self._frames:
            found = []
            for _ in range(_LEVELS):
                found.append(self.mean(frame.start, frame.end))
                frame = frame.parent or frame
            found.append(self.mean(0, len(self.blocks)))
            self._frames[key] = found
        return self._frames[key]


def probabilities(view: PageView) -> list[float]:
    """How likely each block is content, 0..1."""
    blocks = view.blocks
    if not blocks:
        return []
    around = Surroundings(blocks, first_scores(view))
    bias, *second = second_weights()
    chances = []
    for i in range(len(blocks)):
        odds = bias + sum(map(float.__mul__, second, around.of(i)))
        chances.append(1 / (1 + math.exp(-max(-30.0, min(30.0, odds)))))
    return chances


@lru_cache(maxsize=1)
def second_weights() -> tuple[float, ...]:
    """The bias and the weights of `Surroundings.of`, in its order."""
    table = weights()
    return tuple(table[f"second {i}"] for i in range(2 + 2 * len(_REACH) + _LEVELS + 1))


def bar(blocks: list[Block], chances: list[float]) -> float:
    """The probability from which on taking blocks gives the best expected F1 of this page.

    The best set takes the likeliest blocks; its bar is half its expected F1 (Lipton et al. 2014,
    "Optimal Thresholding of Classifiers to Maximize F1 Measure"), so a page that is hard to judge
    is cut lower than a clear one.
    """
    expected = sum(chance * block.chars for block, chance in zip(blocks, chances, strict=True))
    best = right = taken = 0.0
    for chance, chars in sorted(
        ((c, b.chars) for b, c in zip(blocks, chances, strict=True)), reverse=True
    ):
        right, taken = right + chance * chars, taken + chars
        best = max(best, 2 * right / (taken + expected + 1e-9))
    return best / 2

"""The probability that each block is content: a weighted sum of its features, then trees over its
surroundings, then a threshold.

`benchmarks/reading_sweep.py` fits the weights and trees on pages with known content.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files

from spadework.tools.extract.page.block_features import LANDMARKS, PageView, as_parent
from spadework.tools.extract.page.page_blocks import Block, Frame
from spadework.tools.extract.page.surroundings import NUMBERS, Surroundings

Odds = Callable[..., float]
_NOTHING: frozenset[str] = frozenset()
_TREE = "(tree)"


def weights_text() -> str:
    """Return the file of fitted weights: lines of a name and a number, or of `(tree)` and a
    tree.
    """
    return files("spadework.tools.extract.page").joinpath("weights.txt").read_text("utf8")


@lru_cache(maxsize=1)
def weights() -> dict[str, float]:
    """Return the fitted weight of each feature."""
    pairs = (line.split("\t") for line in weights_text().splitlines() if line[:1] != "#")
    return {name: float(value) for name, value in pairs if name != _TREE}


@lru_cache(maxsize=8)
def added(kind: str) -> dict[str, float]:
    """Return the additional weights for pages of `kind`."""
    mark = f"{kind}> "
    pairs = ((name.removeprefix(mark), name) for name in weights() if name.startswith(mark))
    return {common: weights()[name] for common, name in pairs}


def _weights_on(kinds: dict[str, float]) -> dict[str, float]:
    found = weights().copy()
    for kind, share in kinds.items():
        for name, value in added(kind).items():
            found[name] = found.get(name, 0.0) + share * value
    return found


@lru_cache(maxsize=1)
def second_odds() -> Odds:
    """Return the fitted trees as a function of the numbers of `Surroundings.rows`."""
    pairs = (line.split("\t") for line in weights_text().splitlines() if line[:1] != "#")
    return compiled([value for name, value in pairs if name == _TREE], NUMBERS)


def compiled(trees: Sequence[str], numbers: int) -> Odds:
    """Return the sum of `trees` as a function of this many numbers.

    A tree is its nodes in left-first order: `12<0.5` goes left if number 12 is at most 0.5, a bare
    number is a leaf. It is compiled to one expression, five times as fast as a walk.
    """
    names = ",".join(f"x{n}" for n in range(numbers))
    body = "+".join(_expression(iter(tree.split())) for tree in trees) or "0.0"
    # The expression contains only numbers and names made here.
    odds: Odds = eval(f"lambda {names}: {body}", {"__builtins__": {}})
    return odds


def _expression(nodes: Iterator[str]) -> str:
    number, asks, limit = next(nodes).partition("<")
    if not asks:
        return repr(float(number))
    left, right = _expression(nodes), _expression(nodes)
    return f"({left} if x{int(number)}<={float(limit)!r} else {right})"


def first_scores(view: PageView, kinds: dict[str, float]) -> list[float]:
    """Return the log-odds of each block from its features and position, given the likely kinds."""
    table = _weights_on(kinds)
    around, given, seen = _inherited(view, table)
    local: dict[Frame, float] = {}
    scores = []
    for i, block in enumerate(view.blocks):
        frame = block.frame
        if frame not in local:
            names = view.of_frame(frame, seen[frame])
            above = given[frame.parent] if frame.parent is not None else 0.0
            own = sum([table[name] for name in names if name in table])
            local[frame] = around[frame] + above + own
        own = sum([table[name] for name in view.of_block(i) if name in table])
        scores.append(local[frame] + own)
    return scores


def _inherited(
    view: PageView, table: dict[str, float]
) -> tuple[dict[Frame, float], dict[Frame, float], dict[Frame, frozenset[str]]]:
    """Return, per element, what its blocks and its children inherit, and the traits that count."""
    around: dict[Frame, float] = {}
    given: dict[Frame, float] = {}
    seen: dict[Frame, frozenset[str]] = {}
    known: dict[tuple[str, ...], tuple[frozenset[str], list[str], float]] = {}
    for frame in view.frames:  # parents come before children
        parent, entry = frame.parent, known.get(frame.traits)
        if entry is None:
            counted = [trait for trait in frame.traits if trait in table or trait in LANDMARKS]
            as_above = sum([table.get(name, 0.0) for name in as_parent(frame.traits)])
            entry = known[frame.traits] = (frozenset(counted), counted, as_above)
        names, counted, given[frame] = entry
        above = seen[parent] if parent is not None else _NOTHING
        total = around[parent] if parent is not None else table.get("(bias)", 0.0)
        if names <= above:
            seen[frame], around[frame] = above, total
        else:
            fresh = [trait for trait in counted if trait not in above]
            seen[frame] = above | names
            around[frame] = total + sum([table.get(trait, 0.0) for trait in fresh])
    return around, given, seen


def probabilities(view: PageView, kinds: dict[str, float]) -> list[float]:
    """Return the probability that each block is content; `kinds` come likeliest first."""
    if not view.blocks:
        return []
    around = Surroundings(view.blocks, view.frames, first_scores(view, kinds), next(iter(kinds)))
    odds = second_odds()
    return around.levelled(
        [1 / (1 + math.exp(-max(-30.0, min(30.0, odds(*numbers))))) for numbers in around.rows()]
    )


def bar(blocks: list[Block], chances: list[float]) -> float:
    """Return the probability threshold with the best expected F1 for this page.

    The best set takes the likeliest blocks; its threshold is half its expected F1 (Lipton et al.
    2014, "Optimal Thresholding of Classifiers to Maximize F1 Measure"), so an ambiguous page gets a
    lower one.
    """
    expected = sum(chance * block.chars for block, chance in zip(blocks, chances, strict=True))
    best = right = taken = 0.0
    for chance, chars in sorted(
        ((c, b.chars) for b, c in zip(blocks, chances, strict=True)), reverse=True
    ):
        right, taken = right + chance * chars, taken + chars
        best = max(best, 2 * right / (taken + expected + 1e-9))
    return best / 2

"""Compute the probability that each block of a page is content, using weights and decision trees
fitted by `benchmarks/reading_sweep.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import chain, pairwise, repeat

from spadework.tools.extract.page.block_features import (
    LANDMARKS,
    PageView,
    Sums,
    as_parent,
    levelled,
    made_alike,
    region_of,
)
from spadework.tools.extract.page.page_blocks import Block, Frame

_REACH = (1, 3, 8)
_LONG = 120
_FAR = 50
_KINDS = {
    "p": 0, "div": 1, "li": 2, "dd": 3, "dt": 4, "caption": 5, "summary": 6, "cell": 7, "label": 8,
    "button": 9, "pre": 10, "table": 11, "h1": 12, "h2": 13, "h3": 14, "h4": 15, "h5": 16, "h6": 17,
}  # fmt: skip
PAGE_KINDS = ("article", "documentation", "forum", "listing", "collection", "product", "service")
_STOPS = ".!?:;…。！？"
NUMBERS = 56

Numbers = tuple[float, ...]


class Surroundings:
    """Computes the decision trees' input rows from a page's blocks."""

    def __init__(
        self, blocks: list[Block], frames: list[Frame], scores: list[float], kind: str
    ) -> None:
        """Precompute sums. `frames` must list parents before children."""
        self.blocks, self.scores, self._frames = blocks, scores, frames
        self._masses = masses = [math.sqrt(block.chars + 1) for block in blocks]
        self._squashed = squashed = [math.tanh(score / 2) for score in scores]
        self._mass = Sums(masses)
        self._sum = Sums([m * s for m, s in zip(masses, squashed, strict=True)])
        self._chars = Sums([block.chars for block in blocks])
        self._links = Sums([block.link_chars for block in blocks])
        chances = [(1 + s) / 2 for s in squashed]
        self.region = region_of(frames, self._chars, blocks, chances)
        self._same = made_alike(blocks, frames)
        self._likely = _likely(blocks, chances)
        self._page = self._page_numbers(kind)
        self._spans = self._frame_spans()

    def rows(self) -> Iterator[Numbers]:
        """Yield each block's input row, in document order."""
        elements, parts = self._elements(), self._parts()
        along = zip(
            self._places(), self._sections(), self._alike(), self._made_alike(), strict=True
        )
        for near, block, (place, section, alike, same) in zip(
            self._near(), self.blocks, along, strict=True
        ):
            held, part = elements[block.frame], parts[block.frame]
            yield (
                *near,
                *held,
                *_block_features(block),
                *place,
                *part,
                *section,
                *alike,
                *same,
                *self._page,
            )

    def levelled(self, chances: list[float]) -> list[float]:
        """Return the content probabilities with those of similar blocks moved closer together."""
        return levelled(chances, self._masses, self._same)

    def _span(self, start: int, end: int) -> tuple[float, float, float]:
        mass, chars = self._mass.of(start, end), self._chars.of(start, end)
        mean = self._sum.of(start, end) / mass if mass else 0.0
        return mean, chars, self._links.of(start, end) / chars if chars else 0.0

    def _page_numbers(self, kind: str) -> Numbers:
        count, region = len(self.blocks), self.region
        _, chars, density = self._span(0, count)
        mean, held, _ = self._span(region.start, region.end)
        sizes = math.log2(1 + count), held / (chars + 1)
        return (float(PAGE_KINDS.index(kind)), *sizes, mean, density, *self._likely)

    def _near(self) -> Iterator[Numbers]:
        count = len(self.blocks)
        columns = [self.scores]
        for reach in _REACH:
            columns.append(self._means(chain(repeat(0, reach), range(count)), range(count)))
            ends = chain(range(1 + reach, count + 1), repeat(count, reach))
            columns.append(self._means(range(1, count + 1), ends))
        return zip(*columns, strict=True)

    def _means(self, starts: Iterable[int], ends: Iterable[int]) -> list[float]:
        sums, masses = self._sum.upto, self._mass.upto
        return [
            (sums[end] - sums[start]) / mass if (mass := masses[end] - masses[start]) else 0.0
            for start, end in zip(starts, ends, strict=False)
        ]

    def _elements(self) -> dict[Frame, Numbers]:
        found: dict[Frame, Numbers] = {}
        page, spans = self._span(0, len(self.blocks))[0], self._spans
        for frame, own in spans.items():
            second = frame.parent or frame
            third = second.parent or second
            fourth = third.parent or third
            fifth = fourth.parent or fourth
            further = spans[fourth][0], spans[fifth][0], page
            found[frame] = (*own, *spans[second], *spans[third], *further)
        return found

    def _frame_spans(self) -> dict[Frame, Numbers]:
        found: dict[Frame, Numbers] = {}
        for frame in self._frames:
            around = frame.parent
            if around is not None and (around.start, around.end) == (frame.start, frame.end):
                found[frame] = found[around]
            else:
                mean, chars, density = self._span(frame.start, frame.end)
                found[frame] = (mean, math.log2(1 + chars), density)
        return found

    def _places(self) -> Iterator[Numbers]:
        long = [
            i for i, b in enumerate(self.blocks) if b.chars >= _LONG and b.link_chars * 4 < b.chars
        ]
        h1 = next((i for i, block in enumerate(self.blocks) if block.kind == "h1"), -1)
        upto, start, end = self._chars.upto, self.region.start, self.region.end
        chars = upto[end] - upto[start] + 1
        at, last, count = 0, -_FAR, len(long) or 1
        for i in range(len(self.blocks)):
            is_long = at < len(long) and long[at] == i
            following = at + is_long
            share = (upto[i] - upto[start]) / chars
            yield (
                _clip(i - last),
                _clip(long[following] - i if following < len(long) else _FAR),
                at / count,
                float(start <= i < end),
                -0.2 if share < -0.2 else 1.2 if share > 1.2 else share,
                _clip(i - start),
                _clip(end - i),
                _clip(i - h1) if h1 >= 0 else -2.0 * _FAR,
            )
            if is_long:
                at, last = following, i

    def _parts(self) -> dict[Frame, Numbers]:
        region = self.region
        all_chars = self._chars.of(region.start, region.end) + 1
        parts: dict[Frame, tuple[int, Frame]] = {}
        found: dict[Frame, Numbers] = {}
        for frame in self._frames:
            around = frame.parent
            if around is None or around is region or frame is region:
                depth, part = 0, frame
            else:
                depth, part = parts[around]
                depth += 1
            parts[frame] = depth, part
            mean, _, density = self._spans[part]
            chars = self._chars.of(part.start, part.end)
            found[frame] = (float(min(depth, 12)), mean, density, chars / all_chars)
        return found

    def _sections(self) -> Iterator[Numbers]:
        ends = [i for i, b in enumerate(self.blocks) if b.kind[0] == "h" and b.kind[1:].isdigit()]
        for start, end in pairwise([0, *ends, len(self.blocks)]):
            if start == end:
                continue
            mean, chars, density = self._span(start, end)
            size = math.log2(1 + chars / (end - start))
            head = self._squashed[start]
            for away in range(end - start):
                yield mean, density, size, float(min(_FAR, away)), head

    def _alike(self) -> list[Numbers]:
        made: dict[object, list[int]] = {}
        for i, block in enumerate(self.blocks):
            around = block.frame.parent
            make = block.kind, block.frame.traits, around.traits if around is not None else ()
            made.setdefault(make, []).append(i)
        found: list[Numbers] = [()] * len(self.blocks)
        for places in made.values():
            numbers = self._region_features(places)
            for i in places:
                found[i] = numbers
        return found

    def _made_alike(self) -> list[Numbers]:
        found: list[Numbers] = [()] * len(self.blocks)
        masses, squashed = self._masses, self._squashed
        for places in self._same:
            mass = sum([masses[i] for i in places])
            mean = sum([masses[i] * squashed[i] for i in places]) / mass
            chars = sum([self.blocks[i].chars for i in places]) / len(places)
            numbers = math.log2(len(places)), mean, math.log2(1 + chars)
            for i in places:
                found[i] = numbers
        return found

    def _region_features(self, places: list[int]) -> Numbers:
        region, squashed, masses = self.region, self._squashed, self._masses
        inside = mean = mass = chars = 0.0
        for i in places:
            own = masses[i]
            mass += own
            mean += own * squashed[i]
            chars += self.blocks[i].chars
            if region.start <= i < region.end:
                inside += own
        apart = (places[-1] - places[0] + 1) / len(places)
        shares = mean / mass, inside / mass
        return (math.log2(len(places)), *shares, min(float(_FAR), apart), math.log2(1 + chars))


def _likely(blocks: list[Block], chances: list[float]) -> Numbers:
    likely = sum([block.chars * c for block, c in zip(blocks, chances, strict=True)])
    doubt = sum([block.chars * c * (1 - c) for block, c in zip(blocks, chances, strict=True)])
    return likely / (sum([block.chars for block in blocks]) + 1), doubt / (likely + 1)


def _block_features(block: Block) -> Numbers:
    text = block.text
    kind = "li" if block.inside and block.kind in ("p", "div") else block.kind
    return (
        math.log2(1 + block.chars),
        block.link_chars / (block.chars or 1),
        float(_KINDS.get(kind, 0)),
        float(text.rstrip('*_`)”"»')[-1:] in _STOPS),
        text.count(",") / (len(text) + 1),
    )


def _clip(value: int) -> float:
    return float(-_FAR if value < -_FAR else _FAR if value > _FAR else value)


Odds = Callable[..., float]
_NOTHING: frozenset[str] = frozenset()
_TREE = "(tree)"


def weights_text() -> str:
    """Return the contents of the file with the fitted weights and trees. Each line holds a feature
    name and its weight, or `(tree)` and a tree, separated by a tab.
    """
    return files("spadework.tools.extract.page").joinpath("weights.txt").read_text("utf8")


@lru_cache(maxsize=1)
def weights() -> dict[str, float]:
    """Return the fitted weights by feature name."""
    pairs = (line.split("\t") for line in weights_text().splitlines() if line[:1] != "#")
    return {name: float(value) for name, value in pairs if name != _TREE}


@lru_cache(maxsize=8)
def added(kind: str) -> dict[str, float]:
    """Return the additional weights for pages of this kind, keyed by feature name."""
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
    """Return a function that sums the fitted decision trees. It takes the numbers of one row of
    `Surroundings.rows`, and returns the block's log-odds of being content.
    """
    pairs = (line.split("\t") for line in weights_text().splitlines() if line[:1] != "#")
    return compiled([value for name, value in pairs if name == _TREE], NUMBERS)


def compiled(trees: Sequence[str], numbers: int) -> Odds:
    """Compile `trees` into one function of `numbers` arguments that adds up their results. Each
    tree lists its nodes, left branches first: `12<0.5` goes left if argument 12 (counted from 0)
    is at most 0.5, and a bare number is a leaf.
    """
    names = ",".join(f"x{n}" for n in range(numbers))
    body = "+".join(_expression(iter(tree.split())) for tree in trees) or "0.0"
    # This use of eval is safe, because the expression contains only generated names and parsed
    # numbers.
    odds: Odds = eval(f"lambda {names}: {body}", {"__builtins__": {}})
    return odds


def _expression(nodes: Iterator[str]) -> str:
    number, asks, limit = next(nodes).partition("<")
    if not asks:
        return repr(float(number))
    left, right = _expression(nodes), _expression(nodes)
    return f"({left} if x{int(number)}<={float(limit)!r} else {right})"


def first_scores(view: PageView, kinds: dict[str, float]) -> list[float]:
    """Return a first estimate of each block's log-odds of being content, given the page kinds."""
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
    around: dict[Frame, float] = {}
    given: dict[Frame, float] = {}
    seen: dict[Frame, frozenset[str]] = {}
    known: dict[tuple[str, ...], tuple[frozenset[str], list[str], float]] = {}
    for frame in view.frames:  # Parents come before children.
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
    """Return each block's probability of being content. `kinds` lists the likeliest first."""
    if not view.blocks:
        return []
    around = Surroundings(view.blocks, view.frames, first_scores(view, kinds), next(iter(kinds)))
    odds = second_odds()
    return around.levelled(
        [1 / (1 + math.exp(-max(-30.0, min(30.0, odds(*numbers))))) for numbers in around.rows()]
    )


def bar(blocks: list[Block], chances: list[float]) -> float:
    """Return the probability threshold that maximizes this page's expected F1. It is half the
    maximum F1 (Lipton et al. 2014, "Optimal Thresholding of Classifiers to Maximize F1
    Measure").
    """
    expected = sum(chance * block.chars for block, chance in zip(blocks, chances, strict=True))
    best = right = taken = 0.0
    for chance, chars in sorted(
        ((c, b.chars) for b, c in zip(blocks, chances, strict=True)), reverse=True
    ):
        right, taken = right + chance * chars, taken + chars
        best = max(best, 2 * right / (taken + expected + 1e-9))
    return best / 2

"""The window: what a model is shown of the pages that were read. Whole sections around the best
passages, as many as there is room for, without scraps.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import zip_longest
from typing import NamedTuple

from spadework.tools.text.markdown import Block, Pair, blocks, plain, scan, units
from spadework.tools.text.passages import pieces, without_targets
from spadework.tools.text.sentences import is_term
from spadework.tools.text.tables import rows_of

#: A paragraph or an item is next to nothing but links from this share of link text on.
LINKED = 0.8
#: A paragraph of fewer letters that ends no sentence is a scrap where it stands alone: "Share",
#: "Read more". From 24 on answers are lost (`benchmarks/window.py`).
LEAST_SIGNS = 12
_STOPS = (".", "!", "?", ":", "…", "。", "！", "？", "：")


#: A longer section is shown in part: the blocks around the passage, up to so many characters.
MOST_SECTION_CHARS = 6_000
#: A longer block is taken in pieces, but for code.
MOST_PART_CHARS = 1_500


class Stretch(NamedTuple):
    """A stretch of the text of a page."""

    content_hash: str
    start: int
    end: int


def windowed(
    passages: Sequence[Stretch],
    texts: Mapping[str, str],
    room: int,
    count: Callable[[str], int],
    most: int = MOST_SECTION_CHARS,
) -> list[Stretch]:
    """What is shown of `passages`, best first, in `room` tokens as `count` counts them: page by
    page in the order of their best passage, each page in its own order.

    Each passage brings its section; where there is no room for that, the blocks it stands in; else
    nothing. Stretches that touch are one.
    """
    taken: dict[str, set[int]] = {}
    for passage in passages:
        text = texts[passage.content_hash]
        page, known = _laid(text), taken.setdefault(passage.content_hash, set())
        own = page.parts_of(passage)
        for wanted in (page.section(own, most), own):
            fresh = [n for n in wanted if n not in known and page.says[n]]
            cost = sum(page.cost(n, count) for n in fresh)
            if cost <= room:
                known.update(fresh)
                room -= cost
                break
    return [
        Stretch(content_hash, *span)
        for content_hash, known in taken.items()
        for span in _laid(texts[content_hash]).spans(sorted(known))
    ]


class _Laid:
    """A text as its blocks, long ones in pieces."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = blocks(text)
        self._parts: list[tuple[int, int]] = []
        self._heads: list[bool] = []
        self.says: list[bool] = []
        for block, scrap in zip(found, scraps(text, found), strict=True):
            parts = list(_parts(text, block))
            self._parts += parts
            self._heads += [block.kind == "heading"] * len(parts)
            self.says += [not scrap] * len(parts)
        self._starts = [start for start, _ in self._parts]
        self._ends = [end for _, end in self._parts]
        self._costs: dict[int, int] = {}

    def parts_of(self, passage: Stretch) -> range:
        """The parts that a passage stands in."""
        return range(
            bisect_right(self._ends, passage.start), bisect_left(self._starts, passage.end)
        )

    def cost(self, n: int, count: Callable[[str], int]) -> int:
        """The tokens of a part as it is shown."""
        if n not in self._costs:
            self._costs[n] = count(without_targets(self.text[slice(*self._parts[n])]))
        return self._costs[n]

    def section(self, own: range, most: int) -> range:
        """The parts under the same heading, with it, while they are `most` characters or fewer."""
        first, last = own.start, own.stop
        up = down = True
        while up or down:
            up = (
                up
                and first > 0
                and not self._heads[first]
                and self._ends[last - 1] - self._starts[first - 1] <= most
            )
            first -= up
            down = (
                down
                and last < len(self._parts)
                and not self._heads[last]
                and self._ends[last] - self._starts[first] <= most
            )
            last += down
        return range(first, last)

    def spans(self, taken: Sequence[int]) -> list[tuple[int, int]]:
        """The stretches of some parts, neighbours as one."""
        found: list[tuple[int, int]] = []
        for place, n in enumerate(taken):
            start, end = self._parts[n]
            if place and taken[place - 1] == n - 1:
                found[-1] = (found[-1][0], end)
            else:
                found.append((start, end))
        return found


def _parts(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """A block; a long one in pieces, where its kind allows it: a table in runs of rows."""
    if block.kind != "table" or block.end - block.start <= MOST_PART_CHARS:
        yield from pieces(text, block, MOST_PART_CHARS)
        return
    rows = rows_of(text, block)
    start = block.start
    for (_, end), after in zip_longest(rows, rows[1:]):
        if after is None or after[1] - start > MOST_PART_CHARS:
            yield start, end
            start = after[0] if after else end


@lru_cache(maxsize=64)
def _laid(text: str) -> _Laid:
    return _Laid(text)


def scraps(markdown: str, found: Sequence[Block]) -> list[bool]:
    """Of each block of a text, whether it is next to nothing but links, or a few letters that stand
    alone.
    """
    links = sorted(pair for pair in scan(markdown).pairs if markdown[pair.start] in "![")
    starts = [pair.start for pair in links]
    linked = [
        block.kind in ("paragraph", "list")
        and _all_links(
            markdown,
            block,
            links[bisect_left(starts, block.start) : bisect_left(starts, block.end)],
        )
        for block in found
    ]
    little = [_says_little(markdown, block) for block in found]
    # Several short lines are a list, and one beside a list, a table or code belongs to that.
    beside = [
        few or (block.kind in ("list", "table", "code") and not only_links)
        for block, few, only_links in zip(found, little, linked, strict=True)
    ]
    around = zip([False, *beside[:-1]], [*beside[1:], False], strict=True)
    return [
        only_links or (few and not any(near))
        for only_links, few, near in zip(linked, little, around, strict=True)
    ]


def _says_little(markdown: str, block: Block) -> bool:
    if block.kind != "paragraph":
        return False
    said = plain(markdown[block.start : block.end]).strip()
    return (
        sum(map(str.isalnum, said)) < LEAST_SIGNS
        and not any(map(str.isdigit, said))
        and not said.endswith(_STOPS)
        and not is_term(markdown, block)
    )


def _all_links(markdown: str, block: Block, links: Sequence[Pair]) -> bool:
    """Whether a paragraph, or each item of a list, is next to nothing but links."""
    return bool(links) and all(
        _linked(markdown, start, end, [pair for pair in links if start <= pair.start < end])
        for start, end in units(markdown, block)
    )


def _linked(markdown: str, start: int, end: int, links: Sequence[Pair]) -> bool:
    signs = sum(map(str.isalnum, plain(markdown[start:end])))
    words = (plain(markdown[pair.inner_start : pair.inner_end]) for pair in links)
    return sum(sum(map(str.isalnum, word)) for word in words) >= LINKED * signs

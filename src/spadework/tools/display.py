"""Pages as a model is shown them: without the targets of links, and without scraps. What is shown
is for reading alone; a quote of it is located in the text as it is stored.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

from spadework.tools.blocks import Block
from spadework.tools.definitions import is_term
from spadework.tools.inline import Inline, Pair, plain, scan, units

#: A paragraph or an item is next to nothing but links from this share of link text on.
LINKED = 0.8
#: A paragraph of fewer letters that ends no sentence is a scrap where it stands alone: "Share",
#: "Read more". From 24 on answers are lost (`benchmarks/window.py`).
LEAST_SIGNS = 12
_STOPS = (".", "!", "?", ":", "…", "。", "！", "？", "：")


def without_targets(markdown: str) -> str:
    """The text with the words of its links and without their targets, and without pictures."""
    kept, at = [], 0
    for start, end in _targets(markdown, scan(markdown)):
        if start >= at:
            kept.append(markdown[at:start])
            at = end
    return "".join([*kept, markdown[at:]])


def _targets(markdown: str, inline: Inline) -> list[tuple[int, int]]:
    cut: list[tuple[int, int]] = []
    for pair in inline.pairs:
        if markdown.startswith("![", pair.start):
            cut.append((pair.start, pair.end))
        elif markdown[pair.start] == "[":
            cut += [(pair.start, pair.inner_start), (pair.inner_end, pair.end)]
    return sorted(cut)


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

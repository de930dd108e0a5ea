"""The first stage of reading: containers that are known to hold the content, accepted when what
they hold is clean.
"""

from __future__ import annotations

from collections import Counter

from spadework.tools.extract.page.block_features import PageView
from spadework.tools.extract.page.constants import CLEAN_ENOUGH, CONTAINER_SHARE, LONG_ENOUGH
from spadework.tools.extract.page.page_blocks import Block, Frame

_LANDMARKS = ("known container", "role:main", "tag:main", "tag:article")
_FURNITURE = frozenset(("button", "label"))
_REPEATABLE = frozenset(("pre", "table", "cell"))


def cleanliness(blocks: list[Block]) -> float:
    """How free of navigation and repetition a text is, 0..1: one less its shares of link text,
    repeated text and form labels.
    """
    chars = sum(block.chars for block in blocks)
    if not chars:
        return 0.0
    seen: Counter[str] = Counter()
    links = repeated = furniture = 0
    for block in blocks:
        if block.link_chars * 2 > block.chars:  # a link inside a sentence is no navigation
            links += block.link_chars
        if block.kind in _FURNITURE:
            furniture += block.chars
        elif block.kind not in _REPEATABLE:
            repeated += block.chars if seen[block.text] else 0
            seen[block.text] += 1
    return max(0.0, 1 - links / chars - repeated / chars - furniture / chars)


def known_container(view: PageView, chances: list[float]) -> Frame | None:
    """The container to read alone, or None when no known one is long, clean and holds nearly all
    the likely content.
    """
    likely = sum(chance * block.chars for chance, block in zip(chances, view.blocks, strict=True))
    for name in _LANDMARKS:
        for frame in view.frames:
            if name in frame.traits:
                inside = view.blocks[frame.start : frame.end]
                held = sum(
                    chance * block.chars
                    for chance, block in zip(chances[frame.start :], inside, strict=False)
                )
                long = sum(block.chars for block in inside) >= LONG_ENOUGH
                if (
                    long
                    and held >= CONTAINER_SHARE * likely
                    and cleanliness(inside) >= CLEAN_ENOUGH
                ):
                    return frame
    return None

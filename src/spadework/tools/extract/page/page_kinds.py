"""What kind of page it is, such as an article, by its address, metadata and blocks."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from urllib.parse import urlsplit

from spadework.tools.extract.page.block_features import PageView, density, size
from spadework.tools.extract.page.metadata import Metadata, types_of
from spadework.tools.extract.page.page_blocks import Block
from spadework.tools.extract.page.scorer import weights

KINDS = ("article", "collection", "documentation", "forum", "listing", "product", "service")
_WORD = re.compile(r"[a-z]{2,}")
#: What a page is less likely than this, it is not.
UNLIKELY = 0.1
Told = dict[str, list[tuple[str, float]]]


def kinds_of(url: str, found: Metadata, view: PageView) -> dict[str, float]:
    """How likely the page is of each kind that is not unlikely, the likeliest first."""
    return likely_kinds(clues(url, found, view), told())


@lru_cache(maxsize=1)
def told() -> Told:
    """What each clue tells by the fitted weights."""
    return told_by(weights())


def told_by(table: dict[str, float]) -> Told:
    """Which kinds each clue tells by a table of weights, and how much."""
    found: Told = {}
    for name, value in table.items():
        kind, _, clue = name.partition(": ")
        if kind in KINDS:
            found.setdefault(clue, []).append((kind, value))
    return found


def likely_kinds(names: Iterable[str], told: Told) -> dict[str, float]:
    """The kinds that these clues tell: the odds of each are a sum of weights over them."""
    sums: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    for name in names:
        for kind, value in told.get(name, ()):
            sums[kind] += value
    most = max(sums.values())
    odds = {kind: math.exp(value - most) for kind, value in sums.items()}
    least = UNLIKELY * sum(odds.values())
    ranked = sorted(KINDS, key=lambda kind: -odds[kind])
    return {kind: odds[kind] / sum(odds.values()) for kind in ranked if odds[kind] >= least}


def clues(url: str, found: Metadata, view: PageView) -> Iterator[str]:
    """What tells the kind of a page, as names of features."""
    yield "any"
    yield from _address(url)
    yield from {f"type {name}" for thing in found.objects for name in types_of(thing)}
    yield f"og {found.meta.get('og:type', '')}"
    generator = _WORD.findall(found.meta.get("generator", "").lower())[:1]
    yield from (f"generator {word}" for word in generator)
    yield from _content(view)


def _address(url: str) -> Iterator[str]:
    try:
        parts = urlsplit(url.lower())
    except ValueError:
        return
    path = parts.path.strip("/")
    yield from {f"host {word}" for word in _WORD.findall(parts.netloc)}
    yield from {f"path {word}" for word in _WORD.findall(path)}
    yield f"depth {min(4, path.count('/') + 1 if path else 0)}"
    yield f"slug {size(len(path.rsplit('/', 1)[-1]))}"
    if re.search(r"\d{3,}", path):
        yield "numbered"


def _content(view: PageView) -> Iterator[str]:
    blocks = view.blocks
    chars = sum(block.chars for block in blocks)
    yield f"links {density(sum(block.link_chars for block in blocks), chars)}"
    yield f"chars {size(chars // 16)}"
    yield f"long {_count(blocks, lambda b: b.chars > 200 and not b.link_chars * 2 > b.chars)}"
    yield f"code {_count(blocks, lambda b: b.kind == 'pre')}"
    priced = _count(blocks, lambda b: b.chars < 40 and any(sign in b.text for sign in "$€£"))
    yield f"price {priced}"
    headings = [block for block in blocks if block.kind in ("h2", "h3", "h4")]
    yield f"headings {len(headings).bit_length()}"
    yield f"linked headings {_count(headings, lambda b: b.link_chars > 0)}"
    yield f"article elements {sum(frame.tag == 'article' for frame in view.frames).bit_length()}"
    words = {trait for frame in view.frames for trait in frame.traits}
    yield from (f"has {word}" for word in words)


def _count(blocks: list[Block], holds: Callable[[Block], bool]) -> int:
    return sum(map(holds, blocks)).bit_length()

"""Convert a web page to Markdown without navigation. The content is taken from a known container
such as `<main>`, or selected by each block's probability of being content.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract.document_kinds import decode
from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.extract.markdown_writer import blocks, not_shown
from spadework.tools.extract.page.block_features import PageView
from spadework.tools.extract.page.constants import (
    BAR,
    BARS,
    CLEAN_ENOUGH,
    CODE_BAR,
    CONTAINED_KINDS,
    CONTAINER_BAR,
    CONTAINER_SHARE,
    DEFINED,
    DEFINED_CHARS,
    FEW_BLOCKS,
    FURNITURE,
    LEAST_REPEATED_CHARS,
    LIKELY_CHARS,
    LONG_ENOUGH,
    SMALL_PAGE_BYTES,
    THIN_CHARS,
    TITLED_CHARS,
)
from spadework.tools.extract.page.embedded_data import described, shelved, state
from spadework.tools.extract.page.formulas import flatten
from spadework.tools.extract.page.inline_markup import Addresses
from spadework.tools.extract.page.input_limits import bounded, hiding_classes
from spadework.tools.extract.page.metadata import (
    Metadata,
    author_of,
    kinds_of,
    language_of,
    published,
    read_metadata,
    source_kind_of,
    title_of,
)
from spadework.tools.extract.page.page_blocks import Block, Frame, assemble, captioned
from spadework.tools.extract.page.scorer import bar, probabilities
from spadework.tools.extract.page.walker import Walker
from spadework.tools.extract.xml import as_html

_ALL_MARKUP = "there are more tags than can be read before its text begins"


@dataclass(frozen=True)
class ParsedPage:
    """A parsed page. `left_out` counts the characters cut from its end."""

    tree: LexborHTMLParser
    metadata: Metadata
    blocks: list[Block]
    left_out: int = 0


def parsed(html: str, url: str) -> ParsedPage:
    """Parse a page, cut to a safe size. Raises TooLarge for too many attributes, or Unreadable."""
    text, left_out = bounded(html)
    tree = LexborHTMLParser(text)
    flatten(tree, text)
    metadata = read_metadata(tree)
    root = tree.body or tree.root
    walker = Walker(Addresses(url, metadata.base), hiding_classes(tree))
    return ParsedPage(tree, metadata, walker.walk(root) if root is not None else [], left_out)


def extract(html: str | bytes, url: str) -> Extracted:
    """Return a page's content as Markdown, which is empty if only scripts can show the content. If
    the page was cut, the last line says how much is missing. Raises Unreadable if `html` is not
    a page, or TooLarge if the page was cut before any readable text.
    """
    page = parsed(as_html(decode(html) if isinstance(html, bytes) else html), url)
    if page.left_out and not page.blocks:
        raise TooLarge(_ALL_MARKUP)
    said = page.blocks or page.metadata.meta or page.metadata.title
    if not said and page.tree.css_first("script,img,iframe,div") is None:
        raise Unreadable("there is no text in this page", hint="check that it is HTML")
    view = PageView(page.blocks)
    kinds = kinds_of(url, page.metadata, view)
    chosen = content(view, kinds, len(html))
    markdown = _markdown(page, chosen, url)
    if page.left_out and not markdown:
        raise TooLarge(_ALL_MARKUP)
    rest = not_shown(page.left_out, "characters")
    return Extracted(
        title=title_of(page.metadata),
        markdown=f"{markdown.rstrip()}\n\n{rest}\n" if rest else markdown,
        author=author_of(page.metadata, page.tree),
        published_at=published(page.metadata, page.tree, url),
        language=language_of(page.metadata),
        links=tuple({link.url: link for block in chosen for link in block.links}.values()),
        kind=next(iter(kinds)),
        source=source_kind_of(page.metadata),
        figures=tuple(
            {url: Link(url, b.text) for b in chosen[::-1] if (url := captioned(b))}.values()
        ),
    )


def read_fragment(source: str) -> str:
    """Return all text of an HTML fragment as Markdown. If it was cut, the last line says how much
    is missing. Raises TooLarge or Unreadable as `parsed` does.
    """
    text, left_out = bounded(source)
    tree = LexborHTMLParser(text)
    flatten(tree, text)
    found = Walker(Addresses("", "")).walk(tree.body) if tree.body is not None else []
    return blocks([assemble(found).rstrip(), not_shown(left_out, "characters")])


def _markdown(page: ParsedPage, chosen: list[Block], url: str) -> str:
    shown = assemble(chosen)
    if sum(block.chars for block in chosen) >= THIN_CHARS:
        return shown
    addresses = Addresses(url, page.metadata.base)
    hidden = described(page.metadata, addresses) or state(page.tree, addresses)
    hidden = hidden or shelved(page.tree, addresses)
    fresh = [text for text in hidden if text not in shown]
    return "\n\n".join([*([shown.rstrip()] if shown else []), *fresh]) + "\n" if fresh else shown


_ALWAYS = frozenset(("pre", "table"))
#: Link targets, formatting and white space, which are ignored when blocks are compared.
_SET = re.compile(r"\]\([^()\s]*\)|[\[\]*_`\\\s]+")
#: Traits of the elements that hold the main content, most reliable first.
_CONTAINERS = ("known container", "role:main", "tag:main", "tag:article")
_LABELS, _REPEATABLE = frozenset(("button", "label")), frozenset(("pre", "table", "cell"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


def content(view: PageView, kinds: dict[str, float], markup: int) -> list[Block]:
    """Return the content blocks, including the title. `markup` is the length of the HTML."""
    return _titled(view.blocks, _judged(view, kinds, markup))


def _titled(blocks: list[Block], kept: list[Block]) -> list[Block]:
    """Add the last h1 above the first long block if no h1 was kept."""
    if not kept or any(block.kind == "h1" for block in kept):
        return kept
    first = next((block for block in kept if block.chars >= TITLED_CHARS), kept[0])
    above = blocks[: blocks.index(first)]
    titles = [b for b in above if b.kind == "h1" and not b.link_chars * 2 > b.chars]
    wanted = {*kept, *titles[-1:]}
    return [block for block in blocks if block in wanted] if titles else kept


def _judged(view: PageView, kinds: dict[str, float], markup: int) -> list[Block]:
    blocks, kind = view.blocks, next(iter(kinds))
    chances = probabilities(view, kinds)
    held_in_one = kind in CONTAINED_KINDS or markup <= SMALL_PAGE_BYTES
    likely = sum(chance * block.chars for block, chance in zip(blocks, chances, strict=True))
    container = _known_container(view, chances, likely) if held_in_one else None
    if container is not None:
        pairs = list(zip(blocks, chances, strict=True))[container.start : container.end]
        kept = [block for block, chance in pairs if chance > CONTAINER_BAR or block.kind in _ALWAYS]
        kept = [block for block in kept if block.kind != "button"]
        return kept if kind in CONTAINED_KINDS else list(_drop_copies(iter(kept)))
    if likely >= LIKELY_CHARS and len(blocks) > FEW_BLOCKS:
        return _cut(view, chances, kind)
    return _outside_frame(blocks) if likely >= LIKELY_CHARS or markup <= SMALL_PAGE_BYTES else []


def _cleanliness(blocks: list[Block]) -> float:
    chars = sum(block.chars for block in blocks)
    if not chars:
        return 0.0
    seen: Counter[str] = Counter()
    links = repeated = furniture = 0
    for block in blocks:
        if block.link_chars * 2 > block.chars:  # Blocks of mostly links are navigation.
            links += block.link_chars
        if block.kind in _LABELS:
            furniture += block.chars
        elif block.kind not in _REPEATABLE:
            repeated += block.chars if seen[block.text] else 0
            seen[block.text] += 1
    return max(0.0, 1 - links / chars - repeated / chars - furniture / chars)


def _known_container(view: PageView, chances: list[float], likely: float) -> Frame | None:
    for name in _CONTAINERS:
        for frame in view.frames:
            if name in frame.traits:
                inside = view.blocks[frame.start : frame.end]
                pairs = zip(chances[frame.start :], inside, strict=False)
                held = sum(chance * block.chars for chance, block in pairs)
                long = sum(block.chars for block in inside) >= LONG_ENOUGH
                most = long and held >= CONTAINER_SHARE * likely
                if most and _cleanliness(inside) >= CLEAN_ENOUGH:
                    return frame
    return None


def _cut(view: PageView, chances: list[float], kind: str) -> list[Block]:
    blocks = view.blocks
    least = bar(blocks, chances) * BARS.get(kind, BAR)
    bars = {"pre": CODE_BAR, "table": CODE_BAR if kind in CONTAINED_KINDS else least}
    taken = [
        chance > bars.get(block.kind, least) for block, chance in zip(blocks, chances, strict=True)
    ]
    defined = _defined(view, chances, DEFINED * least)
    return list(_drop_copies(block for n, block in enumerate(blocks) if taken[n] or n in defined))


def _outside_frame(blocks: list[Block]) -> list[Block]:
    """Return the blocks outside boilerplate elements, without link lists if other text remains."""
    inside = [block for block in blocks if not _is_furniture(block)]
    told = [block for block in inside if block.link_chars * 2 <= block.chars]
    return told if any(block.kind not in _HEADINGS for block in told) else inside


def _defined(view: PageView, chances: list[float], least: float) -> set[int]:
    around: dict[int, int] = {}
    for frame in view.frames:  # Parents come before children.
        inner = id(frame) if frame.tag == "dl" else around.get(id(frame.parent), 0)
        around[id(frame)] = inner
    lists: dict[int, list[int]] = {}
    for n, block in enumerate(view.blocks):
        if found := around[id(block.frame)]:
            lists.setdefault(found, []).append(n)
    likely = (n for n in lists.values() if _likely(view.blocks, chances, n, least))
    return {n for places in likely for n in places}


def _likely(blocks: list[Block], chances: list[float], places: list[int], least: float) -> bool:
    said = [blocks[n].chars for n in places if blocks[n].kind != "dt"]
    mass = sum(blocks[n].chars + 1 for n in places)
    mean = sum(chances[n] * (blocks[n].chars + 1) for n in places) / mass
    return 0 < len(said) < len(places) and sum(said) >= DEFINED_CHARS * len(said) and mean > least


def _drop_copies(blocks: Iterator[Block]) -> Iterator[Block]:
    """Drop repeated blocks, such as copies for narrow screens."""
    seen: set[str] = set()
    for block in blocks:
        if block.kind not in _ALWAYS and block.chars >= LEAST_REPEATED_CHARS:
            said = _SET.sub("", block.text).lower()
            if said in seen:
                continue
            seen.add(said)
        yield block


def _is_furniture(block: Block) -> bool:
    frame: Frame | None = block.frame
    while frame is not None and FURNITURE.isdisjoint(frame.traits):
        frame = frame.parent
    return frame is not None

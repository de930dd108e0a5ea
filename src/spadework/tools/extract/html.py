"""Convert a web page to Markdown without its navigation, and read its metadata."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract.document_kinds import decode
from spadework.tools.extract.extracted import Extracted, Link
from spadework.tools.extract.markdown_writer import blocks, not_shown
from spadework.tools.extract.page.block_features import PageView
from spadework.tools.extract.page.choice import content
from spadework.tools.extract.page.constants import THIN_CHARS
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
from spadework.tools.extract.page.page_blocks import Block, assemble, captioned
from spadework.tools.extract.page.walker import Walker
from spadework.tools.extract.xml import as_html

_ALL_MARKUP = "there are more tags than can be read before its text begins"


@dataclass(frozen=True)
class ParsedPage:
    """A page's tree, metadata and blocks. `left_out` counts characters cut off its end."""

    tree: LexborHTMLParser
    metadata: Metadata
    blocks: list[Block]
    left_out: int = 0


def parsed(html: str, url: str) -> ParsedPage:
    """Parse a page, cut to the limits. Raises TooLarge or Unreadable as `bounded` does."""
    text, left_out = bounded(html)
    tree = LexborHTMLParser(text)
    flatten(tree, text)
    metadata = read_metadata(tree)
    root = tree.body or tree.root
    walker = Walker(Addresses(url, metadata.base), hiding_classes(tree))
    return ParsedPage(tree, metadata, walker.walk(root) if root is not None else [], left_out)


def extract(html: str | bytes, url: str) -> Extracted:
    """Return a page's content as Markdown with its metadata. Links are absolute and code is exact.
    The Markdown is empty if only scripts would show content. The last line says how much was cut.
    Raises TooLarge if an element or all text is beyond the limits, and Unreadable if this is not a
    page.
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
    """Return all text of an HTML fragment as Markdown.
    Raises TooLarge or Unreadable as `bounded` does.
    """
    text, left_out = bounded(source)
    tree = LexborHTMLParser(text)
    flatten(tree, text)
    found = Walker(Addresses("", "")).walk(tree.body) if tree.body is not None else []
    return blocks([assemble(found).rstrip(), not_shown(left_out, "characters")])


def _markdown(page: ParsedPage, chosen: list[Block], url: str) -> str:
    """Return the chosen blocks, adding embedded text if they are nearly empty."""
    shown = assemble(chosen)
    if sum(block.chars for block in chosen) >= THIN_CHARS:
        return shown
    addresses = Addresses(url, page.metadata.base)
    hidden = described(page.metadata, addresses) or state(page.tree, addresses)
    hidden = hidden or shelved(page.tree, addresses)
    fresh = [text for text in hidden if text not in shown]
    return "\n\n".join([*([shown.rstrip()] if shown else []), *fresh]) + "\n" if fresh else shown

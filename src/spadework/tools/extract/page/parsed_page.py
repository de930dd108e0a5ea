"""A page parsed once: its blocks, its metadata and the tree."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from spadework.tools.extract.page.addresses import Addresses
from spadework.tools.extract.page.hidden import hiding_classes
from spadework.tools.extract.page.input_limits import bounded
from spadework.tools.extract.page.metadata import Metadata, read_metadata
from spadework.tools.extract.page.page_blocks import Block
from spadework.tools.extract.page.walker import Walker


@dataclass(frozen=True)
class ParsedPage:
    """What the reader works on; `left_out` characters at the page's end are not read."""

    tree: LexborHTMLParser
    metadata: Metadata
    blocks: list[Block]
    left_out: int = 0


def parsed(html: str, url: str) -> ParsedPage:
    """Parse a page as far as the limits go. Raises what `bounded` raises."""
    text, left_out = bounded(html)
    tree = LexborHTMLParser(text)
    metadata = read_metadata(tree)
    root = tree.body or tree.root
    blocks = (
        Walker(Addresses(url, metadata.base), hiding_classes(tree)).walk(root)
        if root is not None
        else []
    )
    return ParsedPage(tree, metadata, blocks, left_out)

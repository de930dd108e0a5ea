"""A page parsed once: its blocks, its metadata and the tree."""

from __future__ import annotations

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser

from spadework.tools.extract.page.addresses import Addresses
from spadework.tools.extract.page.blocks import Block
from spadework.tools.extract.page.hidden import hiding_classes
from spadework.tools.extract.page.limits import bounded
from spadework.tools.extract.page.metadata import Metadata, read_metadata
from spadework.tools.extract.page.walker import Walker


@dataclass(frozen=True)
class ParsedPage:
    """What the reader works on."""

    tree: LexborHTMLParser
    metadata: Metadata
    blocks: list[Block]


def parsed(html: str | bytes, url: str) -> ParsedPage:
    """Parse a page within the limits: TooLarge when it is over them, Unreadable when it holds no
    markup.
    """
    tree = LexborHTMLParser(bounded(html))
    metadata = read_metadata(tree)
    root = tree.body or tree.root
    blocks = (
        Walker(Addresses(url, metadata.base), hiding_classes(tree)).walk(root)
        if root is not None
        else []
    )
    return ParsedPage(tree, metadata, blocks)

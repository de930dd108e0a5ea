"""What the walk over a page yields: blocks, each with the elements it stands in."""

from __future__ import annotations

from dataclasses import dataclass, field

from spadework.tools.extract.extracted import Link


@dataclass(slots=True, eq=False)
class Frame:
    """A block-level element. It holds the blocks `start:end` of the page, because blocks come in
    document order.

    `traits` are its tag and the words of its class, id, role and visibility, such as `tag:nav` or
    `footer`.
    """

    parent: Frame | None
    tag: str
    traits: tuple[str, ...]
    start: int
    end: int = 0
    depth: int = 0


@dataclass(slots=True, eq=False)
class Item:
    """A list item or quotation: `marker` opens its first line, `indent` the others."""

    marker: str
    indent: str
    loose: bool = False


@dataclass(slots=True, eq=False)
class Block:
    """One paragraph, heading, table or code block as Markdown, without the prefix of the lists and
    quotes in `inside`.

    `chars` counts its visible characters, `link_chars` those of them that are link text.
    """

    kind: str
    text: str
    chars: int
    link_chars: int
    frame: Frame
    inside: tuple[Item, ...] = ()
    links: tuple[Link, ...] = field(default=())

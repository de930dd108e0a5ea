"""A document's extracted content, and a builder for its Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from spadework.tools.extract.markdown_writer import blocks, fence, item
from spadework.visible import visible

if TYPE_CHECKING:  # Importing pydantic would slow down the processes that read documents.
    from spadework.values import SourceKind


@dataclass(frozen=True)
class Link:
    """A link in a document, with its absolute URL."""

    url: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", visible(self.url))
        object.__setattr__(self, "text", visible(self.text))


@dataclass(frozen=True)
class Extracted:
    """A document's content as Markdown, without navigation. `kind` is a page type such as
    `article`, or a format such as `pdf`. `source` is the type of source that the page claims to be.
    `figures` holds the URLs and captions of captioned images.
    """

    title: str
    markdown: str
    author: str = ""
    published_at: datetime | None = None
    language: str = ""
    links: tuple[Link, ...] = ()
    kind: str = "article"
    source: SourceKind = ""
    figures: tuple[Link, ...] = ()

    def __post_init__(self) -> None:
        # Remove invisible characters first, because offsets into the text are computed without
        # them.
        for name in ("title", "markdown", "author", "language"):
            object.__setattr__(self, name, visible(getattr(self, name)))


_INDENT = "    "


class Draft:
    """Builds a document's Markdown from blocks, list items and lines of code."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._items: list[str] = []
        self._code: list[str] = []
        #: The last item number of each open list, outermost first, or 0 if the list is
        #: unnumbered.
        self._counts: list[int] = []

    def add(self, block: str) -> None:
        """Add a Markdown block after ending any open list or code block."""
        self._end()
        self._blocks.append(block)

    def item(
        self, markdown: str, depth: int = 0, *, numbered: bool = False, number: int = 0
    ) -> None:
        """Add a list item at `depth`. If `number` is 0, the numbering continues."""
        if self._code or (self._counts and depth == 0 and bool(self._counts[0]) != numbered):
            self._end()
        depth = max(0, min(depth, len(self._counts)))
        last = self._counts[depth] if depth < len(self._counts) else 0
        number = number or last + 1
        self._counts = [*self._counts[:depth], number if numbered else 0]
        marker = f"{number}." if numbered else "-"
        self._items += [
            _INDENT * depth + line if line else line for line in item(markdown, marker).split("\n")
        ]

    def code(self, line: str) -> None:
        """Add a line of code, starting a code block if none is open."""
        if self._items:
            self._end()
        self._code.append(line)

    def markdown(self) -> str:
        """End any open list or code block, and return all Markdown."""
        self._end()
        return blocks(self._blocks)

    def _end(self) -> None:
        if self._items:
            self._blocks.append("\n".join(self._items))
        code = "\n".join(self._code).strip("\n")
        if code.strip():
            self._blocks.append(fence(code))
        self._items, self._code, self._counts = [], [], []

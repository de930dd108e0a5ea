"""What reading a document gives, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from spadework.visible import visible


@dataclass(frozen=True)
class Link:
    """A link of a document, made absolute, with its text."""

    url: str
    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", visible(self.url))
        object.__setattr__(self, "text", visible(self.text))


@dataclass(frozen=True)
class Extracted:
    """The content of a document as Markdown, without navigation, and what it says about itself.

    `kind` is what the page is (article, documentation, forum, listing, collection, product,
    service, or a format's name).
    """

    title: str
    markdown: str
    author: str = ""
    published_at: datetime | None = None
    language: str = ""
    links: tuple[Link, ...] = ()
    kind: str = "article"

    def __post_init__(self) -> None:
        # Before anything is counted, cut, stored or quoted, so that offsets hold everywhere.
        for name in ("title", "markdown", "author", "language"):
            object.__setattr__(self, name, visible(getattr(self, name)))

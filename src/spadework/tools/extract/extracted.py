"""What reading a document gives, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True)
class Link:
    """A link of a document, made absolute, with its text."""

    url: str
    text: str


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

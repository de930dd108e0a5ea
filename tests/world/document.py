"""The documents of the world: files under `pages/` with what a search engine would know about
them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from selectolax.lexbor import LexborHTMLParser

from tests.world.paper import pdf

PAGES = Path(__file__).parent / "pages"

#: Endings and how their files are served. A `.paper` is text that is served as a PDF.
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".txt": "text/plain; charset=utf-8",
    ".md": "text/markdown; charset=utf-8",
    ".csv": "text/csv; charset=utf-8",
    ".json": "application/json",
    ".xml": "application/rss+xml",
    ".paper": "application/pdf",
}

_UNSEARCHED = {MEDIA_TYPES[".json"], MEDIA_TYPES[".xml"]}

#: How one page names another site of the world: `site://news/path`.
_LINK = re.compile(r"site://(\w+)")
_DATE = re.compile(r'(?:"datePublished":\s*"|property="article:published_time" content=")([^"]+)"')


@dataclass(frozen=True)
class Document:
    """Something that is served. `title`, `text` and `published` are what a search engine would
    index.
    """

    site: str
    path: str
    body: bytes
    media_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    title: str = ""
    text: str = ""
    published: str = ""


def from_text(site: str, path: str, text: str, media_type: str) -> Document:
    """A document of `text` (HTML or plain), indexed as it would be."""
    body = text.encode()
    if media_type in _UNSEARCHED or path == "/robots.txt":
        return Document(site, path, body, media_type)
    if not media_type.startswith("text/html"):
        return Document(site, path, body, media_type, title=_first_line(text), text=text)
    tree = LexborHTMLParser(text)
    title, date = tree.css_first("title"), _DATE.search(text)
    named = title.text().strip() if title else ""
    tree.strip_tags(["script", "style", "nav", "footer", "title"])
    shown = " ".join(tree.body.text(separator=" ").split()) if tree.body else ""
    return Document(
        site, path, body, media_type, title=named, text=shown, published=date[1] if date else ""
    )


def load(bases: Mapping[str, str]) -> Iterator[Document]:
    """Every file of `pages/<site>/`; `bases` are the sites' addresses, such as
    http://127.0.1.1:4000.
    """
    for file in sorted(PAGES.rglob("*.*")):
        site, *parts = file.relative_to(PAGES).parts
        text = _LINK.sub(lambda link: bases[link[1]], file.read_text())
        yield _served(site, "/" + "/".join(parts), text, file.suffix)


def _served(site: str, name: str, text: str, ending: str) -> Document:
    if ending == ".paper":
        path = name.removesuffix(ending) + ".pdf"
        return Document(
            site, path, pdf(text), MEDIA_TYPES[ending], title=_first_line(text), text=text
        )
    path = name.removesuffix(".html").removesuffix("index") if ending == ".html" else name
    return from_text(site, path, text, MEDIA_TYPES[ending])


def _first_line(text: str) -> str:
    return text.strip().split("\n", 1)[0].lstrip("# ").strip()

"""Convert EPUB books to Markdown, reading each chapter like a web page."""

from __future__ import annotations

import posixpath
from urllib.parse import unquote

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract.document_kinds import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.html import extract
from spadework.tools.extract.markdown_writer import blocks, not_shown, plain
from spadework.tools.extract.office.package import Package, described
from spadework.tools.extract.xml import Element, attribute, below, tag, text

MAX_CHAPTERS = 500
#: Maximum bytes of all chapters, unpacked.
MAX_BYTES = 100_000_000

_PAGES = ("application/xhtml+xml", "text/html")


def extract_epub(package: Package, url: str) -> Extracted:
    """Return a book's text and metadata. Raises Unreadable or TooLarge."""
    container = package.needed("META-INF/container.xml")
    path = unquote(attribute(next(below(container, "rootfile"), None), "full-path"))
    book = package.needed(path)
    told = [*below(book, "title", "creator", "date", "language")]
    # A second title is a subtitle, so the first one wins.
    said = {tag(part): text(part) for part in reversed(told)}
    said["creator"] = ", ".join(text(part) for part in told if tag(part) == "creator")
    order, contents = _reading_order(book, posixpath.dirname(path))
    chapters = _chapters(package, order, url)
    markdown = blocks([*chapters, package.unread([*order, *contents])])
    return described(said, markdown, kind="epub")


def _chapters(package: Package, order: list[str], url: str) -> list[str]:
    chapters = []
    left = MAX_BYTES
    for name in order[:MAX_CHAPTERS]:
        body = package.read(name)
        left -= len(body)
        if left < 0:
            what = f"The chapters of the {package.what}"
            raise TooLarge(f"{what} have more than {MAX_BYTES:,} bytes.")
        try:
            chapters.append(extract(decode(body), url).markdown.strip("\n"))
        except TooLarge as error:
            named = posixpath.basename(name)
            chapters.append(plain(f"… The chapter {named} is not shown: {error}."))
        except Unreadable:  # The chapter contains only a picture.
            continue
    return [*chapters, not_shown(len(order) - MAX_CHAPTERS, "chapters")]


def _reading_order(book: Element, folder: str) -> tuple[list[str], list[str]]:
    files: dict[str, str] = {}
    contents = []
    for entry in below(book, "item"):
        name = posixpath.normpath(posixpath.join(folder, unquote(attribute(entry, "href"))))
        if "nav" in attribute(entry, "properties").split():
            contents.append(name)
        elif attribute(entry, "media-type") in _PAGES:
            files[attribute(entry, "id")] = name
    order = [attribute(entry, "idref") for entry in below(book, "itemref")]
    return [files[entry] for entry in dict.fromkeys(order) if entry in files], contents

"""A document of the library, and where it is cut for the index."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from urllib.parse import unquote

from spadework.tools.library.near_copies import sketch
from spadework.tools.library.uses import defined_names, used_names
from spadework.tools.text.markdown_blocks import blocks
from spadework.tools.text.passages import cut

#: Longest passage that is indexed and shown as a snippet, but for code and tables.
PASSAGE_CHARS = 1_500
_VERSION = re.compile(r"-v?\d[^-]*$")
#: Folders deeper than this are one place.
_DEPTH = 12
_TOP = re.compile(r"^library://[^/]+/(?:compiled/)?(\w+)")


@dataclass(frozen=True)
class Document:
    """A document as clean Markdown. `url` is library://<collection>/<relative path>.

    `uses` is the number of other documents with code that uses what this one documents. `kind` is
    the kind of file it was read from, such as "pdf", and `changed_at` when that file was last
    changed. `author` is who it says wrote it.
    """

    url: str
    title: str
    markdown: str
    published_at: datetime | None = None
    uses: int = 0
    kind: str = ""
    changed_at: datetime | None = None
    author: str = ""


@dataclass(frozen=True)
class Part:
    """A document still to be read: `read` gives it, None where it is empty; it alone may fail."""

    url: str
    read: Callable[[], Document | None]


@dataclass(frozen=True)
class Skipped:
    """A file, a document or a package that is not in the library, and why."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


@dataclass(frozen=True)
class Piece:
    """A passage `start:end` of a document's Markdown and the path of headings above it."""

    start: int
    end: int
    heading: str


@dataclass(frozen=True)
class Cut:
    """A document, its passages, the names its code uses and defines, and the sketch of its text."""

    document: Document
    passages: list[Piece]
    used: frozenset[str]
    defined: tuple[str, ...]
    sketch: bytes


def cut_document(document: Document) -> Cut:
    """A document made ready for the index; lone surrogates cannot be stored: they are replaced."""
    title, text = _storable(document.title), _storable(document.markdown)
    document = replace(document, title=title, markdown=text)
    names = used_names(text), tuple(defined_names(text))
    return Cut(document, pieces(document), *names, sketch(text))


def _storable(text: str) -> str:
    return text.encode(errors="replace").decode()


def pieces(document: Document, max_chars: int = PASSAGE_CHARS) -> list[Piece]:
    """The passages of a document, at most `max_chars` long but for code and tables; what little
    stands alone is joined to its neighbour.
    """
    joined: list[Piece] = []
    spans = cut(document.markdown, max_chars)
    for (start, end), path in zip(spans, _paths(document.markdown, spans), strict=True):
        last = joined[-1] if joined else None
        if (
            last
            and end - last.start <= max_chars
            and min(end - start, last.end - last.start) < max_chars // 4
            and _near(last.heading, path)
        ):
            joined[-1] = Piece(last.start, end, last.heading)
        else:
            joined.append(Piece(start, end, path))
    return joined


def _paths(markdown: str, spans: list[tuple[int, int]]) -> list[str]:
    """For each span the path of headings it stands under, such as "Install > Linux"."""
    waiting = [block for block in reversed(blocks(markdown)) if block.kind == "heading"]
    path: list[tuple[int, str]] = []
    found = []
    for start, _ in spans:
        while waiting and waiting[-1].start <= start:
            block = waiting.pop()
            marked = markdown[block.start : block.end].strip()
            text = marked.lstrip("#")
            level = len(marked) - len(text)
            above = [other for other in path if other[0] < level]
            path = [*above, (level, text.partition("\n")[0].strip())]
        found.append(" > ".join(text for _, text in path if text))
    return found


def _near(above: str, below: str) -> bool:
    """Whether a passage may join the one above: they stand below one heading or section."""
    return above.split(" > ")[:2] == below.split(" > ")[:2] or below.startswith(f"{above} > ")


def packages_of(url: str) -> set[str]:
    """The installed and imported names of the package that a URL is of; none without version."""
    collection = url.partition("://")[2].partition("/")[0]
    name = _VERSION.sub("", collection)
    top = _TOP.match(url)
    if name == collection:
        return set()
    return {plain_name(name), plain_name(top[1]) if top else ""} - {""}


def plain_name(name: str) -> str:
    """A name of a package in the one form that all its spellings share."""
    return name.strip().lower().replace("_", "-")


def places(url: str) -> list[str]:
    """Where library://Notes/Soup/Onion.md lies: in notes, /soup and /soup/onion.md.

    A package also goes by its name without the version, a saved site by the domains above its own.
    """
    site, _, path = unquote(url.partition("://")[2]).lower().partition("/")
    parts = path.split("/")
    ends = [*range(1, min(len(parts), _DEPTH)), len(parts)]
    name = _VERSION.sub("", site)
    labels = site.split(".") if name == site else []
    above = [".".join(labels[at:]) for at in range(1, len(labels) - 1)]
    return [*dict.fromkeys([site, name, *above]), *("/" + "/".join(parts[:end]) for end in ends)]

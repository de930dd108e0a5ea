"""Split documents into passages, and store documents in a database."""

from __future__ import annotations

import re
import sqlite3
import threading
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

import zstandard

from spadework.tools.library.python_sources import defined_names, used_names
from spadework.tools.ranking.statements import resemblance as similarity
from spadework.tools.text.markdown import blocks
from spadework.tools.text.passages import cut

#: Maximum number of characters in a passage, except for code and tables.
PASSAGE_CHARS = 1_500
_VERSION = re.compile(r"-v?\d[^-]*$")
_DEPTH = 12
_TOP = re.compile(r"^library://[^/]+/(?:compiled/)?(\w+)")


@dataclass(frozen=True)
class Document:
    """A document as clean Markdown.
    - `url`: library://<collection>/<relative path>.
    - `uses`: how often other documents use the names defined here, counting a name once per
      document.
    - `kind`: the file type, such as "pdf".
    - `changed_at`: when the file last changed.
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
    """A document not yet read. `read` returns None if it is empty, and can raise any exception."""

    url: str
    read: Callable[[], Document | None]


@dataclass(frozen=True)
class Skipped:
    """A file, document or package that could not be read."""

    url: str
    reason: str

    def __str__(self) -> str:
        return f"{self.url}: {self.reason}"


@dataclass(frozen=True)
class Piece:
    """The passage `start:end` of a document, with the headings above it."""

    start: int
    end: int
    heading: str


@dataclass(frozen=True)
class Cut:
    """A document prepared for the index."""

    document: Document
    passages: list[Piece]
    used: frozenset[str]
    defined: tuple[str, ...]
    sketch: bytes


def cut_document(document: Document) -> Cut:
    """Prepare a document for the index, replacing lone surrogates."""
    title, text = _storable(document.title), _storable(document.markdown)
    document = replace(document, title=title, markdown=text)
    names = used_names(text), tuple(defined_names(text))
    return Cut(document, pieces(document), *names, sketch(text))


def _storable(text: str) -> str:
    return text.encode(errors="replace").decode()


def pieces(document: Document, max_chars: int = PASSAGE_CHARS) -> list[Piece]:
    """Split a document into passages. Code and tables may exceed `max_chars`."""
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
    return above.split(" > ")[:2] == below.split(" > ")[:2] or below.startswith(f"{above} > ")


def packages_of(url: str) -> set[str]:
    """Return the distribution and import names in a package URL, or an empty set for other URLs."""
    collection = url.partition("://")[2].partition("/")[0]
    name = _VERSION.sub("", collection)
    top = _TOP.match(url)
    if name == collection:
        return set()
    return {plain_name(name), plain_name(top[1]) if top else ""} - {""}


def plain_name(name: str) -> str:
    """Return a package name in normalized form."""
    return name.strip().lower().replace("_", "-")


def places(url: str) -> list[str]:
    """Return the sites and paths that contain a URL, for search filters. For example,
    library://Notes/Soup/Onion.md is in notes, /soup and /soup/onion.md.
    """
    site, _, path = unquote(url.partition("://")[2]).lower().partition("/")
    parts = path.split("/")
    ends = [*range(1, min(len(parts), _DEPTH)), len(parts)]
    name = _VERSION.sub("", site)
    labels = site.split(".") if name == site else []
    above = [".".join(labels[at:]) for at in range(1, len(labels) - 1)]
    return [*dict.fromkeys([site, name, *above]), *("/" + "/".join(parts[:end]) for end in ends)]


#: A `source` is a file or package. Documents whose `batch` is greater than `state.indexed` are not
#: in the full-text index yet.
_TABLES = """
create table if not exists documents (
    id integer primary key autoincrement, url text unique not null, title text not null,
    markdown blob not null,
    published_at text,
    uses integer not null default 0, kind text not null, changed_at text,
    author text not null,
    sketch blob not null, used text not null,
    defined text not null,
    source text not null, batch integer not null
);
create index if not exists documents_of_source on documents (source);
create index if not exists documents_of_batch on documents (batch);
create index if not exists documents_with_code on documents (id) where used != '' or defined != '';
create table if not exists used (package text not null, uses integer not null,
    document integer not null);
create index if not exists used_by_package on used (package, uses);
create table if not exists sources (
    name text primary key, size integer not null, mtime integer not null, digest text not null
);
create table if not exists skipped (source text not null, url text not null, reason text not null);
create index if not exists skipped_of_source on skipped (source);
create table if not exists removed (document integer not null, batch integer not null);
create table if not exists state (indexed integer not null);
insert into state select 0 where not exists (select * from state);
"""
#: Exceptions raised by reading a damaged index folder.
DAMAGED = (sqlite3.DatabaseError, ValueError, zstandard.ZstdError)
_SECONDS = 30
COLUMNS = "url, title, markdown, published_at, uses, kind, changed_at, author"
_MADE = "sketch, used, defined, source, batch"
INSERT = f"insert or ignore into documents ({COLUMNS}, {_MADE}) values ({', '.join('?' * 13)})"
_COMPRESSION = 1


def open_to_write(folder: Path) -> sqlite3.Connection:
    """Open the database in `folder`, creating missing tables."""
    db = sqlite3.connect(folder / "documents.db", isolation_level=None, timeout=_SECONDS)
    db.executescript("pragma journal_mode=wal; pragma synchronous=normal;" + _TABLES)
    return db


def row_of(document: Document) -> tuple[Any, ...]:
    """Convert a document to a database row."""
    text = zstandard.compress(document.markdown.encode(errors="replace"), _COMPRESSION)
    dates = [
        moment.isoformat() if moment else None
        for moment in (document.published_at, document.changed_at)
    ]
    said = (document.url, document.title, text, dates[0], document.uses, document.kind, dates[1])
    return *said, document.author


def document_of(row: Sequence[Any]) -> Document:
    """Convert a database row to a document."""
    url, title, packed, published_at, uses, kind, changed_at, author = row
    text = zstandard.decompress(packed).decode()
    published, changed = _moment(published_at), _moment(changed_at)
    return Document(url, title, text, published, uses, kind, changed, author)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


class StoreReader:
    """Thread-safe access to the documents in a finished index folder."""

    def __init__(self, folder: Path) -> None:
        # Open the file as immutable, because a finished folder never changes.
        address = f"{(folder / 'documents.db').absolute().as_uri()}?mode=ro&immutable=1"
        self._db = sqlite3.connect(address, uri=True, check_same_thread=False)
        self._lock = threading.Lock()

    def count(self) -> int:
        """Return the number of documents."""
        return int(self._rows("select count(*) from documents")[0][0])

    def by_url(self, url: str) -> Document | None:
        """Return the document at a URL, or None."""
        rows = self._rows(f"select {COLUMNS} from documents where url = ?", url)
        return document_of(rows[0]) if rows else None

    def by_numbers(self, numbers: Sequence[int]) -> dict[int, tuple[Document, bytes]]:
        """Return documents with their sketches (hashes for finding copies), keyed by number."""
        marks = ",".join("?" * len(numbers))
        rows = self._rows(
            f"select id, sketch, {COLUMNS} from documents where id in ({marks})", *numbers
        )
        return {number: (document_of(row), sketch) for number, sketch, *row in rows}

    def numbers(self) -> list[int]:
        """Return the numbers of all documents."""
        return [number for (number,) in self._rows("select id from documents")]

    def most_used(self, packages: Collection[str], most: int) -> list[int]:
        """Return the numbers of at most `most` documents from these packages, most used first."""
        marks = ",".join("?" * len(packages))
        query = (
            f"select distinct document from used where package in ({marks}) order by uses desc"
            " limit ?"
        )
        return [row[0] for row in self._rows(query, *packages, most)]

    def skipped(self) -> list[Skipped]:
        """Return everything that could not be read, sorted by URL."""
        rows = self._rows("select url, reason from skipped order by url")
        return [Skipped(*row) for row in rows]

    def close(self) -> None:
        """Close the database."""
        with self._lock:
            self._db.close()

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()


#: Characters that end a clause. Texts are compared by the clauses they share.
_ENDS = b".!?,;:()\n"
_AS_LINES = bytes.maketrans(_ENDS, b"\n" * len(_ENDS))
_LEFT_OUT = bytes(sign for sign in range(128) if not chr(sign).isalpha() and sign not in _ENDS)
_CLAUSE = 12
#: Maximum number of clause hashes kept per text, and minimum number that a text needs to be
#: compared. The smallest hashes are kept, because they form an unbiased sample (Broder 1997).
_SAMPLE, _LEAST = 48, 4
#: Texts that share at least this fraction of their clauses are copies.
COPY = 0.7

T = TypeVar("T")


def sketch(text: str) -> bytes:
    """Return the smallest hashes of a text's clauses, sorted, in 4 bytes each."""
    clauses = set(
        text.lower().encode(errors="replace").translate(_AS_LINES, _LEFT_OUT).split(b"\n")
    )
    found = sorted({zlib.crc32(clause) for clause in clauses if len(clause) >= _CLAUSE})
    return array("I", found[:_SAMPLE]).tobytes()


def resemblance(one: bytes, other: bytes) -> float:
    """Estimate the similarity (0..1) of two texts from their sketches. Short texts get 0."""
    a, b = frozenset(array("I", one)), frozenset(array("I", other))
    return similarity(a, b, _SAMPLE) if min(len(a), len(b)) >= _LEAST else 0.0


def without_copies(ranked: Iterable[T], sketch_of: Callable[[T], bytes], most: int) -> list[T]:
    """Return the first `most` items, leaving out copies of earlier ones."""
    kept: list[T] = []
    sketches: list[bytes] = []
    for item in ranked:
        if len(kept) >= most:
            break
        own = sketch_of(item)
        if all(resemblance(other, own) < COPY for other in sketches):
            kept.append(item)
            sketches.append(own)
    return kept

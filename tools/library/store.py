"""The folder of one built library: `documents.db` with the texts, `index/` with the full-text index.

A folder is built once under another name, moved into place in one step, and never changed after that.
"""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import tantivy

from spadework.tools.library.document import Cut, Document, Piece, packages_of
from spadework.tools.library.schema import open_index, signed, spaced, spread, subject
from spadework.tools.library.uses import Census

_TABLES = """
create table documents (
    id integer primary key, url text unique not null, title text not null, markdown blob not null, published_at text,
    uses integer not null default 0
);
create table used (package text not null, uses integer not null, document integer not null);
create table files (
    url text primary key, size integer not null, mtime integer not null, digest text not null, document integer, reason text not null
);
"""
_HEAP_BYTES = 128_000_000
_COMPRESSION = 1


class StoreWriter:
    """Fills a new folder. Use as a context manager; nothing is searchable before its end."""

    def __init__(self, folder: Path) -> None:
        (folder / "index").mkdir(parents=True)
        self._db = sqlite3.connect(folder / "documents.db", isolation_level=None)
        self._db.executescript("pragma journal_mode=off; pragma synchronous=off; begin;" + _TABLES)
        self._census = Census()
        self._writer = open_index(folder / "index").writer(_HEAP_BYTES, 1)

    def add(self, cut: Cut) -> int | None:
        """Store a document and index its passages; returns its number, or None when its URL is already there."""
        document = cut.document
        published = document.published_at.isoformat() if document.published_at else None
        row = (document.url, document.title, zlib.compress(document.markdown.encode(errors="replace"), _COMPRESSION), published)
        cursor = self._db.execute("insert or ignore into documents (url, title, markdown, published_at) values (?, ?, ?, ?)", row)
        if not cursor.rowcount or cursor.lastrowid is None:
            return None
        self._census.add(cursor.lastrowid, document.markdown, cut.used)
        title = spread(document.title)
        for passage in cut.passages:
            entry = _indexed(document, passage, title)
            entry.add_integer("document", cursor.lastrowid)
            if passage is cut.passages[0]:
                entry.add_text("subject", subject(document.title))
            self._writer.add_document(entry)
        return cursor.lastrowid

    def note(self, url: str, size: int, mtime: int, digest: str, document: int | None, reason: str = "") -> None:
        """Record the file a document was read from, or why it could not be read."""
        self._db.execute("insert into files values (?, ?, ?, ?, ?, ?)", (url, size, mtime, digest, document, reason))

    def _note_uses(self) -> None:
        for uses, number in self._census.uses():
            self._db.execute("update documents set uses = ? where id = ?", (uses, number))
            (url,) = self._db.execute("select url from documents where id = ?", (number,)).fetchone()
            self._db.executemany("insert into used values (?, ?, ?)", ((name, uses, number) for name in packages_of(url)))
        self._db.execute("create index used_by_package on used (package, uses)")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._note_uses()
            self._db.execute("commit")
            self._writer.commit()
            self._writer.wait_merging_threads()
        self._db.close()


def _indexed(document: Document, passage: Piece, title: str) -> tantivy.Document:
    body = document.markdown[passage.start : passage.end]
    entry = tantivy.Document(start=passage.start, end=passage.end)
    entry.add_text("title", title)
    entry.add_text("heading", spread(passage.heading))
    entry.add_text("body", spaced(body))
    entry.add_text("names", f"{document.title} {document.url.partition('://')[2].replace('/', ' ')} {passage.heading}")
    if terms := signed(f"{document.title} {body}"):
        entry.add_text("signed", " ".join(terms))
    return entry


class StoreReader:
    """Reads the texts of a built folder; safe in several threads."""

    def __init__(self, folder: Path) -> None:
        self._db = sqlite3.connect(
            f"{(folder / 'documents.db').absolute().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
        )
        self._lock = threading.Lock()

    def count(self) -> int:
        """How many documents there are."""
        return int(self._rows("select count(*) from documents")[0][0])

    def by_url(self, url: str) -> Document | None:
        """The document at a URL."""
        rows = self._rows("select url, title, markdown, published_at, uses from documents where url = ?", url)
        return _document(*rows[0]) if rows else None

    def by_numbers(self, numbers: Sequence[int]) -> dict[int, Document]:
        """Documents by their numbers."""
        marks = ",".join("?" * len(numbers))
        rows = self._rows(f"select id, url, title, markdown, published_at, uses from documents where id in ({marks})", *numbers)
        return {row[0]: _document(*row[1:]) for row in rows}

    def most_used(self, packages: Collection[str], most: int) -> list[int]:
        """The numbers of the documents of some packages that the code of others uses most."""
        marks = ",".join("?" * len(packages))
        query = f"select distinct document from used where package in ({marks}) order by uses desc limit ?"
        return [row[0] for row in self._rows(query, *packages, most)]

    def files(self) -> list[tuple[str, int, int, str, int | None, str]]:
        """URL, size, mtime in ns, digest, document number and reason of every file that was looked at."""
        return self._rows("select url, size, mtime, digest, document, reason from files order by url")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()


def _document(url: str, title: str, markdown: bytes, published_at: str | None, uses: int) -> Document:
    published = datetime.fromisoformat(published_at) if published_at else None
    return Document(url, title, zlib.decompress(markdown).decode(), published, uses)

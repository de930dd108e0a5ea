"""The tables of a library: documents with their texts, and the sources they were read from.

A folder is filled under another name, moved into place in one step, and never changed after that.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import zstandard

from spadework.tools.library.document import Document, Skipped

#: A source is a file or a package; what it gave are the documents of its name, and what of it could
#: not be read is in `skipped`. `batch` numbers the commit that wrote a row: what the full-text
#: index has not yet got is what was written after `state.indexed`.
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
#: What reading a damaged folder ends with: its tables, its full text, a text in it.
DAMAGED = (sqlite3.DatabaseError, ValueError, zstandard.ZstdError)
_SECONDS = 30
COLUMNS = "url, title, markdown, published_at, uses, kind, changed_at, author"
_MADE = "sketch, used, defined, source, batch"
#: Adds a row (`row_of`) with what was made of the document; does nothing where its URL is already
#: there.
INSERT = f"insert or ignore into documents ({COLUMNS}, {_MADE}) values ({', '.join('?' * 13)})"
_COMPRESSION = 1


def open_to_write(folder: Path) -> sqlite3.Connection:
    """The tables in `folder`, made where missing. What is committed outlives the process."""
    db = sqlite3.connect(folder / "documents.db", isolation_level=None, timeout=_SECONDS)
    db.executescript("pragma journal_mode=wal; pragma synchronous=normal;" + _TABLES)
    return db


def row_of(document: Document) -> tuple[Any, ...]:
    """The columns of a document."""
    text = zstandard.compress(document.markdown.encode(errors="replace"), _COMPRESSION)
    dates = [
        moment.isoformat() if moment else None
        for moment in (document.published_at, document.changed_at)
    ]
    said = (document.url, document.title, text, dates[0], document.uses, document.kind, dates[1])
    return *said, document.author


def document_of(row: Sequence[Any]) -> Document:
    """The document of a row's columns."""
    url, title, packed, published_at, uses, kind, changed_at, author = row
    text = zstandard.decompress(packed).decode()
    published, changed = _moment(published_at), _moment(changed_at)
    return Document(url, title, text, published, uses, kind, changed, author)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


class StoreReader:
    """Reads the texts of a built folder; safe in several threads."""

    def __init__(self, folder: Path) -> None:
        # nobody changes a finished folder
        address = f"{(folder / 'documents.db').absolute().as_uri()}?mode=ro&immutable=1"
        self._db = sqlite3.connect(address, uri=True, check_same_thread=False)
        self._lock = threading.Lock()

    def count(self) -> int:
        """How many documents there are."""
        return int(self._rows("select count(*) from documents")[0][0])

    def by_url(self, url: str) -> Document | None:
        """The document at a URL."""
        rows = self._rows(f"select {COLUMNS} from documents where url = ?", url)
        return document_of(rows[0]) if rows else None

    def by_numbers(self, numbers: Sequence[int]) -> dict[int, tuple[Document, bytes]]:
        """Documents by their numbers, each with the sketch of its text."""
        marks = ",".join("?" * len(numbers))
        rows = self._rows(
            f"select id, sketch, {COLUMNS} from documents where id in ({marks})", *numbers
        )
        return {number: (document_of(row), sketch) for number, sketch, *row in rows}

    def numbers(self) -> list[int]:
        """The numbers of all documents."""
        return [number for (number,) in self._rows("select id from documents")]

    def most_used(self, packages: Collection[str], most: int) -> list[int]:
        """The numbers of the documents of some packages that the code of others uses most."""
        marks = ",".join("?" * len(packages))
        query = (
            f"select distinct document from used where package in ({marks}) order by uses desc"
            " limit ?"
        )
        return [row[0] for row in self._rows(query, *packages, most)]

    def skipped(self) -> list[Skipped]:
        """All that could not be read, by URL."""
        rows = self._rows("select url, reason from skipped order by url")
        return [Skipped(*row) for row in rows]

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _rows(self, query: str, *values: Any) -> list[Any]:
        with self._lock:
            return self._db.execute(query, values).fetchall()

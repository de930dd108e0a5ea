"""Writes a library's folder: texts into tables, passages into the full-text index, in durable
commits.

The tables are authoritative: a commit goes to the tables first, then to the index, and then the
tables record that. Whatever was interrupted in between is redone from the tables when the folder is
next opened, without reading any source.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Self

import tantivy

from spadework.tools.library.document import (
    COLUMNS,
    INSERT,
    Cut,
    Document,
    Piece,
    Skipped,
    cut_document,
    document_of,
    open_to_write,
    packages_of,
    places,
    row_of,
)
from spadework.tools.library.full_text import (
    open_index,
    open_writer,
    signed_terms,
    space_signs,
    spread,
    subject,
)
from spadework.tools.library.python_sources import count_uses

#: Passages, or seconds, per commit: the most that a killed process loses.
COMMIT_PASSAGES, COMMIT_SECONDS = 50_000, 20.0
_HEAP_BYTES = 64_000_000


class StoreWriter:
    """The only writer of a new or unfinished folder. Use as a context manager."""

    def __init__(self, folder: Path) -> None:
        (folder / "index").mkdir(parents=True, exist_ok=True)
        self._db = open_to_write(folder)
        self._writer = open_writer(open_index(folder / "index"), _HEAP_BYTES)
        (self._indexed,) = self._db.execute("select indexed from state").fetchone()
        self._recover()
        self._begin()

    def _recover(self) -> None:
        for (number,) in self._db.execute("select document from removed"):
            self._writer.delete_documents_by_term("document", number)
        query = f"select id, {COLUMNS} from documents where batch > ?"
        for number, *row in self._db.execute(query, (self._indexed,)):
            self._writer.delete_documents_by_term("document", number)
            self._index(number, cut_document(document_of(row)))
        (last,) = self._db.execute("select coalesce(max(batch), 0) from documents").fetchone()
        self._settle(max(last, self._indexed))

    def add(self, cut: Cut, source: str = "") -> int | None:
        """Store and index a document; return its number, None if its URL exists already."""
        document = cut.document
        names = " ".join(cut.used), " ".join(cut.defined)
        made = (cut.sketch, *names, source or document.url, self._batch)
        cursor = self._db.execute(INSERT, (*row_of(document), *made))
        if not cursor.rowcount or cursor.lastrowid is None:
            return None
        self._index(cursor.lastrowid, cut)
        self._passages += len(cut.passages)
        if self._passages >= COMMIT_PASSAGES or time.monotonic() > self._due:
            self.commit()
        return cursor.lastrowid

    def note(
        self,
        source: str,
        size: int = 0,
        mtime: int = 0,
        digest: str = "",
        skipped: Iterable[Skipped] = (),
    ) -> None:
        """Record a source as read, and what of it could not be."""
        self._db.execute(
            "insert or replace into sources values (?, ?, ?, ?)", (source, size, mtime, digest)
        )
        rows = ((source, each.url, each.reason) for each in skipped)
        self._db.executemany("insert into skipped values (?, ?, ?)", rows)

    def forget(self, source: str) -> None:
        """Delete a source and its documents."""
        query = "select id from documents where source = ?"
        for (number,) in self._db.execute(query, (source,)).fetchall():
            self._db.execute("delete from documents where id = ?", (number,))
            self._db.execute("insert into removed values (?, ?)", (number, self._batch))
            self._writer.delete_documents_by_term("document", number)
        self._db.execute("delete from skipped where source = ?", (source,))
        self._db.execute("delete from sources where name = ?", (source,))

    def forget_others(self, kept: Iterable[str]) -> None:
        """Delete every source not in `kept`."""
        self._db.execute("create temp table kept (name text primary key)")
        self._db.executemany("insert or ignore into kept values (?)", ((name,) for name in kept))
        query = "select name from sources where name not in kept"
        for (name,) in self._db.execute(query).fetchall():
            self.forget(name)
        self._db.execute("drop table kept")

    def source(self, name: str) -> tuple[int, int, str] | None:
        """Return size, mtime in ns and digest of a source as last read; None if unknown."""
        row: tuple[int, int, str] | None = self._db.execute(
            "select size, mtime, digest from sources where name = ?", (name,)
        ).fetchone()
        return row

    def documents(self, source: str) -> list[Document]:
        """Return the documents of a source."""
        rows = self._db.execute(f"select {COLUMNS} from documents where source = ?", (source,))
        return [document_of(row) for row in rows]

    def skipped(self, source: str) -> list[Skipped]:
        """Return what could not be read of a source."""
        rows = self._db.execute("select url, reason from skipped where source = ?", (source,))
        return [Skipped(*row) for row in rows]

    def commit(self) -> None:
        """Commit everything written so far."""
        self._db.execute("commit")
        self._settle(self._batch)
        self._begin()

    def _begin(self) -> None:
        self._db.execute("begin")
        self._batch = self._indexed + 1
        self._passages, self._due = 0, time.monotonic() + COMMIT_SECONDS

    def _settle(self, batch: int) -> None:
        """Commit to the index what the tables hold up to `batch`."""
        self._writer.commit()
        with self._db:
            self._db.execute("begin")
            self._db.execute("update state set indexed = ?", (batch,))
            self._db.execute("delete from removed")
        self._indexed = batch

    def _index(self, number: int, cut: Cut) -> None:
        document = cut.document
        within = places(document.url)
        dated = document.published_at or document.changed_at
        for entry in index_passages(number, document, cut.passages):
            for place in within:
                entry.add_text("places", place)
            if document.kind:
                entry.add_text("kind", document.kind)
            if dated:
                entry.add_integer("day", dated.toordinal())
            self._writer.add_document(entry)

    def finish(self) -> None:
        """Count uses between documents, and close the folder: from now on it is read-only."""
        self._note_uses()
        self.commit()
        self._db.execute("commit")
        self._writer.wait_merging_threads()
        self._db.execute("pragma journal_mode=delete")

    def _note_uses(self) -> None:
        query = "select id, defined, used from documents where used != '' or defined != ''"
        documents = (
            (number, defined.split(), frozenset(used.split()))
            for number, defined, used in self._db.execute(query)
        )
        counted = list(count_uses(documents))
        self._db.execute("delete from used")
        self._db.execute("update documents set uses = 0 where uses > 0")
        for uses, number in counted:
            self._db.execute("update documents set uses = ? where id = ?", (uses, number))
            query = "select url from documents where id = ?"
            (url,) = self._db.execute(query, (number,)).fetchone()
            users = ((name, uses, number) for name in packages_of(url))
            self._db.executemany("insert into used values (?, ?, ?)", users)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *fault: object) -> None:
        if kind is None:
            self.finish()
        self._db.close()


def index_passages(
    number: int, document: Document, passages: Sequence[Piece]
) -> Iterator[tantivy.Document]:
    """Yield a document's passages in index form."""
    title, address = spread(document.title), document.url.partition("://")[2].replace("/", " ")
    for passage in passages:
        body = document.markdown[passage.start : passage.end]
        entry = tantivy.Document(document=number, start=passage.start, end=passage.end)
        entry.add_text("title", title)
        entry.add_text("heading", spread(passage.heading))
        entry.add_text("body", space_signs(body))
        entry.add_text("names", f"{document.title} {address} {passage.heading}")
        if terms := signed_terms(f"{document.title} {body}"):
            entry.add_text("signed", " ".join(terms))
        if passage is passages[0]:
            entry.add_text("subject", subject(document.title))
        yield entry

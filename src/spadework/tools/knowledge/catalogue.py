"""The pages of the embedded store with their texts, in one SQLite file that several processes
share. It is the truth; the index follows it.

A page that is added has `indexed` 0, and one that is removed leaves its number in `gone`, until the
index has caught up. So whatever ends a process half way, the next writer goes on where it stopped.
Numbers are never used again.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import zstandard
from filelock import FileLock

from spadework.errors import KnowledgeError
from spadework.tools.knowledge.entry import Entry, Which, condition_of
from spadework.tools.stores.private_files import private_file
from spadework.tools.stores.session_database import transaction
from spadework.tools.web.urls import host_of
from spadework.values import Page

#: How long another process that writes, or makes the tables, is waited for.
BUSY_SECONDS = 10.0
#: Raise it when the tables change.
FORMAT = 1
_SCHEMA = """
CREATE TABLE pages (
    id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT UNIQUE NOT NULL, host TEXT NOT NULL,
    record TEXT NOT NULL, text BLOB NOT NULL,
    own INTEGER NOT NULL,
    bytes INTEGER NOT NULL, fetched_at REAL NOT NULL, used_at REAL NOT NULL,
    indexed INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX by_use ON pages (used_at);
CREATE INDEX by_age ON pages (fetched_at);
CREATE INDEX to_index ON pages (indexed) WHERE indexed = 0;
CREATE TABLE gone (id INTEGER PRIMARY KEY);
CREATE TABLE shelf (generation INTEGER NOT NULL, removed INTEGER NOT NULL);
INSERT INTO shelf VALUES (0, 0);
"""


class Catalogue:
    """The file at `path`, at most `most_bytes` of pages (packed). `clock` is in seconds."""

    def __init__(self, path: Path, most_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._most = most_bytes
        self._clock = clock

    @property
    def exists(self) -> bool:
        """Whether anything was ever kept."""
        return self._path.exists()

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """A connection that commits every statement by itself."""
        private_file(self._path)
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            (made,) = db.execute("PRAGMA user_version").fetchone()
            if made > FORMAT:
                raise KnowledgeError(
                    f"The knowledge store in {self._path.parent} was made by a newer spadework.",
                    hint="Update spadework.",
                )
            if not made:
                with FileLock(self._path.with_name(".making"), BUSY_SECONDS, 0o600):
                    _make(db)
            db.execute("PRAGMA synchronous = NORMAL")
            # What is removed is overwritten, and its room given back.
            db.execute("PRAGMA secure_delete = ON")
            yield db

    def put(self, db: sqlite3.Connection, entries: Iterable[Entry]) -> int:
        """Keep pages unless known as new, then make room. Returns how many were kept."""
        with transaction(db):
            kept = sum(self._put(db, entry) for entry in entries)
            self._make_room(db)
        return kept

    def _put(self, db: sqlite3.Connection, entry: Entry) -> bool:
        page, record = entry.page, entry.page.model_dump_json()
        text = zstandard.compress(entry.text.encode(errors="replace"), 3)
        size, fetched = len(text) + len(record.encode()), page.fetched_at.timestamp()
        row = db.execute("SELECT id, fetched_at FROM pages WHERE url = ?", (entry.key,)).fetchone()
        if size > self._most or (row and row[1] >= fetched):
            return False
        if row:
            _remove(db, [row[0]])
        db.execute(
            "INSERT INTO pages (url, host, record, text, own, bytes, fetched_at, used_at) VALUES"
            " (?, ?, ?, ?, ?, ?, ?, ?)",
            (entry.key, host_of(page.url), record, text, entry.own, size, fetched, self._clock()),
        )
        return True

    def _make_room(self, db: sqlite3.Connection) -> None:
        """Remove the pages that were used least recently, until the rest fits."""
        (total,) = db.execute("SELECT TOTAL(bytes) FROM pages").fetchone()
        leaving = []
        for number, size in db.execute("SELECT id, bytes FROM pages ORDER BY used_at, id"):
            if total <= self._most:
                break
            leaving.append(number)
            total -= size
        _remove(db, leaving)

    def remove(self, db: sqlite3.Connection, which: Which) -> int:
        """Remove pages; returns how many."""
        condition, values = condition_of(which)
        with transaction(db):
            asked = db.execute(f"SELECT id FROM pages WHERE {condition}", values)
            numbers = [number for (number,) in asked]
            _remove(db, numbers)
        return len(numbers)

    def use(self, db: sqlite3.Connection, url: str, since: float) -> Entry | None:
        """The page at a canonical URL that was fetched since then, now used."""
        row = db.execute(
            "SELECT record, text, own FROM pages WHERE url = ? AND fetched_at >= ?", (url, since)
        ).fetchone()
        if row:
            db.execute("UPDATE pages SET used_at = ? WHERE url = ?", (self._clock(), url))
        return Entry.unpacked(*row) if row else None

    def pages(self, db: sqlite3.Connection, which: Which) -> list[Page]:
        """Pages without their texts, the newest first."""
        condition, values = condition_of(which)
        asked = f"SELECT record FROM pages WHERE {condition} ORDER BY fetched_at DESC, id DESC"
        return [Page.model_validate_json(record) for (record,) in db.execute(asked, values)]


def entries(db: sqlite3.Connection, numbers: Sequence[int], since: float = 0.0) -> dict[int, Entry]:
    """Pages by their numbers, those fetched since then."""
    marks = ",".join("?" * len(numbers))
    query = f"SELECT id, record, text, own FROM pages WHERE id IN ({marks}) AND fetched_at >= ?"
    return {number: Entry.unpacked(*row) for number, *row in db.execute(query, (*numbers, since))}


def _make(db: sqlite3.Connection) -> None:
    """The tables, unless another process has made them by now."""
    if db.execute("PRAGMA user_version").fetchone() != (0,):
        return
    db.execute("PRAGMA auto_vacuum = FULL")
    db.execute("PRAGMA journal_mode = WAL")
    with transaction(db):
        for statement in _SCHEMA.split(";"):
            db.execute(statement)
        db.execute(f"PRAGMA user_version = {FORMAT}")


def _remove(db: sqlite3.Connection, numbers: Sequence[int]) -> None:
    for number in numbers:
        db.execute("DELETE FROM pages WHERE id = ?", (number,))
        db.execute("INSERT INTO gone VALUES (?)", (number,))

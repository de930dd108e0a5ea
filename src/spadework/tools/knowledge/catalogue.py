"""Pages of the embedded store with their texts, in one SQLite file shared by processes. It is
authoritative; the index follows.

An added page has `indexed` 0, and a deleted one leaves its number in `gone`, until the index has
caught up. So the next writer continues where an interrupted process stopped. Numbers are never
reused.
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

#: Seconds to wait for another process that writes or creates the tables.
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
    """The file at `path`, with at most `most_bytes` of pages (compressed). `clock` is in
    seconds.
    """

    def __init__(self, path: Path, most_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._most = most_bytes
        self._clock = clock

    @property
    def exists(self) -> bool:
        """Whether anything was ever stored."""
        return self._path.exists()

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Open a connection on which every statement commits."""
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
            # Overwrite deleted data and return its space.
            db.execute("PRAGMA secure_delete = ON")
            yield db

    def put(self, db: sqlite3.Connection, entries: Iterable[Entry]) -> int:
        """Store pages that are new or newer, then make room. Returns how many were stored."""
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
        """Delete the least recently used pages until the rest fits."""
        (total,) = db.execute("SELECT TOTAL(bytes) FROM pages").fetchone()
        leaving = []
        for number, size in db.execute("SELECT id, bytes FROM pages ORDER BY used_at, id"):
            if total <= self._most:
                break
            leaving.append(number)
            total -= size
        _remove(db, leaving)

    def remove(self, db: sqlite3.Connection, which: Which) -> int:
        """Delete pages; return how many."""
        condition, values = condition_of(which)
        with transaction(db):
            asked = db.execute(f"SELECT id FROM pages WHERE {condition}", values)
            numbers = [number for (number,) in asked]
            _remove(db, numbers)
        return len(numbers)

    def use(self, db: sqlite3.Connection, url: str, since: float) -> Entry | None:
        """Return the page at a canonical URL fetched since then, marking it as used."""
        row = db.execute(
            "SELECT record, text, own FROM pages WHERE url = ? AND fetched_at >= ?", (url, since)
        ).fetchone()
        if row:
            db.execute("UPDATE pages SET used_at = ? WHERE url = ?", (self._clock(), url))
        return Entry.unpacked(*row) if row else None

    def pages(self, db: sqlite3.Connection, which: Which) -> list[Page]:
        """Return pages without texts, newest first."""
        condition, values = condition_of(which)
        asked = f"SELECT record FROM pages WHERE {condition} ORDER BY fetched_at DESC, id DESC"
        return [Page.model_validate_json(record) for (record,) in db.execute(asked, values)]


def entries(db: sqlite3.Connection, numbers: Sequence[int], since: float = 0.0) -> dict[int, Entry]:
    """Return pages by number, fetched since then."""
    marks = ",".join("?" * len(numbers))
    query = f"SELECT id, record, text, own FROM pages WHERE id IN ({marks}) AND fetched_at >= ?"
    return {number: Entry.unpacked(*row) for number, *row in db.execute(query, (*numbers, since))}


def _make(db: sqlite3.Connection) -> None:
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

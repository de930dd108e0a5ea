"""Store pages without a server, in an SQLite catalogue and a search index that all processes
share. Only the process that holds the lock indexes new pages.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import zstandard
from filelock import FileLock, Timeout

from spadework.errors import KnowledgeError, ModelError
from spadework.tools.knowledge.entry import Entry, Recalled, Which, condition_of
from spadework.tools.knowledge.page_index import PassageIndex, answer, document
from spadework.tools.library.full_text import Asked, no_panic, parse_question
from spadework.tools.library.search import (
    Dense,
    Nearest,
    no_passages,
    passages,
    propose_passages,
    rarity,
)
from spadework.tools.ranking.embedder import Meaning, fill
from spadework.tools.ranking.vectors import Near, Passage, Vectors
from spadework.tools.stores.private_files import private_file, private_folder
from spadework.tools.stores.session_database import transaction
from spadework.tools.web.urls import canonical_url, host_of
from spadework.values import Page

#: Seconds to wait while another process writes or creates the tables.
BUSY_SECONDS = 10.0
#: The version of the table format. Increase it when the tables change.
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
    """The SQLite catalogue of pages, limited to `most_bytes`. `clock` returns the Unix time."""

    def __init__(self, path: Path, most_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._most = most_bytes
        self._clock = clock

    @property
    def exists(self) -> bool:
        """True if anything was ever stored."""
        return self._path.exists()

    @contextmanager
    def opened(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that commits each statement."""
        private_file(self._path)
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            (made,) = db.execute("PRAGMA user_version").fetchone()
            if made > FORMAT:
                raise KnowledgeError(
                    f"The knowledge store in {self._path.parent} was created by a newer spadework.",
                    hint="Update spadework.",
                )
            if not made:
                with FileLock(self._path.with_name(".making"), BUSY_SECONDS, 0o600):
                    _make(db)
            db.execute("PRAGMA synchronous = NORMAL")
            # Overwrite deleted data, so that it cannot be recovered.
            db.execute("PRAGMA secure_delete = ON")
            yield db

    def put(self, db: sqlite3.Connection, entries: Iterable[Entry]) -> int:
        """Store pages that are new or newer than the stored version, and return their number."""
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
        (total,) = db.execute("SELECT TOTAL(bytes) FROM pages").fetchone()
        leaving = []
        for number, size in db.execute("SELECT id, bytes FROM pages ORDER BY used_at, id"):
            if total <= self._most:
                break
            leaving.append(number)
            total -= size
        _remove(db, leaving)

    def remove(self, db: sqlite3.Connection, which: Which) -> int:
        """Delete the selected pages, and return their number."""
        condition, values = condition_of(which)
        with transaction(db):
            asked = db.execute(f"SELECT id FROM pages WHERE {condition}", values)
            numbers = [number for (number,) in asked]
            _remove(db, numbers)
        return len(numbers)

    def use(self, db: sqlite3.Connection, url: str, since: float) -> Entry | None:
        """Return a page, marking it as used, or None if it is unknown or older than `since`."""
        row = db.execute(
            "SELECT record, text, own FROM pages WHERE url = ? AND fetched_at >= ?", (url, since)
        ).fetchone()
        if row:
            db.execute("UPDATE pages SET used_at = ? WHERE url = ?", (self._clock(), url))
        return Entry.unpacked(*row) if row else None

    def pages(self, db: sqlite3.Connection, which: Which) -> list[Page]:
        """Return the selected pages without their texts, newest first."""
        condition, values = condition_of(which)
        asked = f"SELECT record FROM pages WHERE {condition} ORDER BY fetched_at DESC, id DESC"
        return [Page.model_validate_json(record) for (record,) in db.execute(asked, values)]


def entries(db: sqlite3.Connection, numbers: Sequence[int], since: float = 0.0) -> dict[int, Entry]:
    """Return the pages with these row ids, keyed by id, except those fetched before `since`."""
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


T = TypeVar("T")
#: Maximum numbers of passages to retrieve: passages with any of the question's terms, passages with
#: all its needed terms, and passages about a subject that the question names.
_PROPOSED = 40, 20, 10
#: When a term's rarity is computed, the store is assumed to hold this many additional passages
#: without the term. Otherwise, the main words of a small store would count as common.
_OTHERS = 10_000
LOCK_SECONDS = 10.0
#: The index is rebuilt if the number of deleted pages exceeds both this limit and the number of
#: pages kept.
MOST_REMOVED = 500
_BATCH = 50


class EmbeddedKnowledge:
    """The knowledge store in `folder`. It is also searched by embeddings if `meaning` is given."""

    def __init__(
        self,
        folder: Path,
        most_bytes: int,
        clock: Callable[[], float] = time.time,
        meaning: Meaning | None = None,
    ) -> None:
        self.folder = folder
        self._catalogue = Catalogue(folder / "pages.sqlite", most_bytes, clock)
        self._index: PassageIndex | None = None
        self._vectors = Vectors(
            folder / "vectors.sqlite", "knowledge", meaning.embeds.name if meaning else ""
        )
        self._dense = Dense(self._vectors, meaning) if meaning else None

    @property
    def describes(self) -> str:
        """The location of the store, for messages."""
        return f"the knowledge store in {self.folder}"

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """See `Knowledge.search`."""
        nearest = await self._dense.nearest(text) if self._dense else no_passages

        def find(db: sqlite3.Connection) -> list[Recalled]:
            return self._search_shelf(db, parse_question(text), limit, since.timestamp(), nearest)

        return await asyncio.to_thread(self._at, find, [])

    async def find(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """See `Knowledge.find`."""
        key, least = canonical_url(url), since.timestamp() if since else 0.0
        use = partial(self._catalogue.use, url=key, since=least)
        return await asyncio.to_thread(self._at, use, None)

    async def add(self, entries: Sequence[Entry]) -> int:
        """See `Knowledge.add`."""
        done = 0
        if entries:
            put = partial(self._catalogue.put, entries=entries)
            done = await asyncio.to_thread(self._written, put)
        if self._dense and not self._dense.meaning.broken:
            await self._embed(self._dense.meaning)
        return done

    async def forget(self, which: Which) -> int:
        """See `Knowledge.forget`. The index is rebuilt, so that it keeps no deleted words."""
        if not await asyncio.to_thread(lambda: self._catalogue.exists):
            return 0
        return await asyncio.to_thread(self._forgotten, which)

    async def pages(self, which: Which) -> AsyncIterator[Page]:
        """See `Knowledge.pages`."""
        kept = await asyncio.to_thread(self._at, partial(self._catalogue.pages, which=which), [])
        for page in kept:
            yield page

    async def count(self) -> int:
        """See `Knowledge.count`."""
        return await asyncio.to_thread(self._at, _count, 0)

    async def close(self) -> None:
        """Release the index."""
        self._index = None

    def _at(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        try:
            if not self._catalogue.exists:
                return otherwise
            with self._catalogue.opened() as db:
                return work(db)
        except (sqlite3.Error, OSError, ValueError) as error:
            raise self._unusable(error) from None

    async def _embed(self, meaning: Meaning) -> None:
        try:
            numbers = await asyncio.to_thread(self._at, self._without_vectors, list[int]())
            await fill(self._vectors, meaning.embeds, self._passages(numbers))
            await asyncio.to_thread(self._at, self._without_pages, None)
        except ModelError as error:
            lost = "Pages were stored without vectors. The next run adds the vectors."
            meaning.fail(error, lost)

    def _without_vectors(self, db: sqlite3.Connection) -> list[int]:
        known = self._vectors.numbers()
        return [n for n in _numbers(db, "pages ORDER BY id DESC") if n not in known]

    def _without_pages(self, db: sqlite3.Connection) -> None:
        # Read the vectors first, because a page added between the two reads would otherwise seem
        # deleted.
        known = self._vectors.numbers()
        self._vectors.forget(known - {*_numbers(db, "pages")})

    def _passages(self, numbers: Sequence[int]) -> Iterator[list[Passage]]:
        for n in range(0, len(numbers), _BATCH):
            some = self._at(partial(entries, numbers=numbers[n : n + _BATCH]), dict[int, Entry]())
            yield from (passages(number, document(entry)) for number, entry in some.items())

    def _search_shelf(
        self, db: sqlite3.Connection, question: Asked, limit: int, since: float, nearest: Nearest
    ) -> list[Recalled]:
        searcher = self._shelf(db).searcher()
        if searcher is None or not question.terms or limit < 1:
            return []
        with no_panic():
            matches = list(propose_passages(searcher, question, _PROPOSED, []))
        near: list[Near] = []
        if nearest is not no_passages:
            near = nearest(matches, {*_numbers(db, "pages WHERE fetched_at >= ?", since)})
        numbers = {match.number for match in matches} | {one.number for one in near}
        weights = {term.text: rarity(searcher, term, _OTHERS) for term in question.terms}
        return answer(matches, entries(db, sorted(numbers), since), question, weights, limit, near)

    def _shelf(self, db: sqlite3.Connection) -> PassageIndex:
        (generation,) = db.execute("SELECT generation FROM shelf").fetchone()
        folder = self.folder / f"index-{generation}"
        if self._index is None or self._index.folder != folder:
            self._index = PassageIndex(folder)
        return self._index

    def _written(self, work: Callable[[sqlite3.Connection], int], *, anew: bool = False) -> int:
        try:
            private_folder(self.folder)
            with self._catalogue.opened() as db:
                done = work(db)
                with suppress(Timeout), FileLock(self.folder / ".lock", LOCK_SECONDS, 0o600):
                    self._catch_up(db, anew=anew and done > 0)
                return done
        except (sqlite3.Error, OSError, ValueError, ModelError) as error:
            raise self._unusable(error) from None

    def _catch_up(self, db: sqlite3.Connection, *, anew: bool) -> None:
        fresh, gone = _numbers(db, "pages WHERE indexed = 0"), _numbers(db, "gone")
        self._vectors.forget(gone)
        (removed,) = db.execute("SELECT removed FROM shelf").fetchone()
        index = self._shelf(db)
        lost = len(fresh) < _count(db) and not index.intact
        if anew or lost or removed + len(gone) > max(MOST_REMOVED, _count(db)):
            self._rebuild(db)
        elif fresh or gone:
            # Delete the fresh pages from the index before adding them, because an interrupted
            # process may have indexed them without marking them as indexed.
            index.write(_in_batches(db, fresh), [*gone, *fresh])
            self._note(db, fresh, gone, "removed = removed + ?", len(gone))

    def _rebuild(self, db: sqlite3.Connection) -> None:
        old = self._shelf(db)
        (generation,) = db.execute("SELECT generation + 1 FROM shelf").fetchone()
        numbers, gone = _numbers(db, "pages"), _numbers(db, "gone")
        made = PassageIndex(self.folder / f"index-{generation}")
        made.remove()
        made.write(_in_batches(db, numbers))
        self._note(db, numbers, gone, "removed = 0, generation = ?", generation)
        old.remove()

    def _note(
        self,
        db: sqlite3.Connection,
        fresh: Sequence[int],
        gone: Sequence[int],
        change: str,
        value: int,
    ) -> None:
        with transaction(db):
            db.executemany("UPDATE pages SET indexed = 1 WHERE id = ?", ((n,) for n in fresh))
            db.executemany("DELETE FROM gone WHERE id = ?", ((n,) for n in gone))
            db.execute(f"UPDATE shelf SET {change}", (value,))

    def _forgotten(self, which: Which) -> int:
        try:
            count = self._written(lambda db: self._catalogue.remove(db, which), anew=True)
            with self._catalogue.opened() as db:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except KnowledgeError:
            if which != Which():
                raise
            # Delete the damaged store, because everything in it was to be deleted anyway.
            shutil.rmtree(self.folder, ignore_errors=True)
            return 0
        return count

    def _unusable(self, error: Exception) -> KnowledgeError:
        said = (error.strerror or "") if isinstance(error, OSError) else str(error)
        hint = "Run `spadework knowledge forget --all` to empty the store, or use --no-knowledge."
        return KnowledgeError(
            f"The knowledge store in {self.folder} cannot be used: {said or type(error).__name__}.",
            hint=hint,
        )


def _in_batches(db: sqlite3.Connection, numbers: Sequence[int]) -> Iterator[tuple[int, Entry]]:
    for n in range(0, len(numbers), _BATCH):
        yield from entries(db, numbers[n : n + _BATCH]).items()


def _numbers(db: sqlite3.Connection, where: str, *values: float) -> list[int]:
    return [number for (number,) in db.execute(f"SELECT id FROM {where}", values)]


def _count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT COUNT(*) FROM pages").fetchone()[0])

"""The knowledge store without a server: a catalogue and an index under the home, for all processes.
Pages are in the catalogue at once. One process at a time writes the index; one that does not get
the lock in time leaves the work to the next, so nothing is lost.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from spadework.errors import KnowledgeError, ModelError
from spadework.tools.dense.passage_vectors import Meaning
from spadework.tools.dense.vector_fill import fill
from spadework.tools.dense.vectors import Near, Passage, Vectors
from spadework.tools.knowledge.catalogue import Catalogue, entries
from spadework.tools.knowledge.entry import Entry, Recalled, Which
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
from spadework.tools.stores.private_files import private_folder
from spadework.tools.stores.session_database import transaction
from spadework.tools.web.urls import canonical_url
from spadework.values import Page

T = TypeVar("T")
#: Passages proposed by any term, by all terms, and about a named subject.
_PROPOSED = 40, 20, 10
#: Other passages assumed when computing rarity, so that a small store's main subject is not common
#: and a missing word does not outweigh all others.
_OTHERS = 10_000
#: Seconds to wait for the lock on the index.
LOCK_SECONDS = 10.0
#: The index is rebuilt once more pages were deleted than are kept, and more than this.
MOST_REMOVED = 500
#: Texts in memory at once while the index is written.
_BATCH = 50


class EmbeddedKnowledge:
    """The store in `folder`, also searched by `meaning` if given. `clock` is in seconds."""

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
        """The store's location."""
        return f"the knowledge store in {self.folder}"

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """Search pages; see `Knowledge.search`."""
        nearest = await self._dense.nearest(text) if self._dense else no_passages

        def find(db: sqlite3.Connection) -> list[Recalled]:
            return self._search_shelf(db, parse_question(text), limit, since.timestamp(), nearest)

        return await asyncio.to_thread(self._at, find, [])

    async def find(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """Return a page; see `Knowledge.known`."""
        key, least = canonical_url(url), since.timestamp() if since else 0.0
        use = partial(self._catalogue.use, url=key, since=least)
        return await asyncio.to_thread(self._at, use, None)

    async def add(self, entries: Sequence[Entry]) -> int:
        """Store pages; see `Knowledge.add`."""
        done = 0
        if entries:
            put = partial(self._catalogue.put, entries=entries)
            done = await asyncio.to_thread(self._written, put)
        if self._dense and not self._dense.meaning.broken:
            await self._embed(self._dense.meaning)
        return done

    async def forget(self, which: Which) -> int:
        """Delete pages; see `Knowledge.forget`. Rebuilds the index, so that no word remains in
        it.
        """
        if not await asyncio.to_thread(lambda: self._catalogue.exists):
            return 0
        return await asyncio.to_thread(self._forgotten, which)

    async def pages(self, which: Which) -> AsyncIterator[Page]:
        """Yield pages; see `Knowledge.pages`."""
        kept = await asyncio.to_thread(self._at, partial(self._catalogue.pages, which=which), [])
        for page in kept:
            yield page

    async def count(self) -> int:
        """Count pages; see `Knowledge.count`."""
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
        """Embed pages without vectors, newest first; the next call continues if interrupted."""
        try:
            numbers = await asyncio.to_thread(self._at, self._without_vectors, list[int]())
            await fill(self._vectors, meaning.embeds, self._passages(numbers))
            await asyncio.to_thread(self._at, self._without_pages, None)
        except ModelError as error:
            lost = "Pages were kept without vectors; the next run that keeps pages goes on."
            meaning.fail(error, lost)

    def _without_vectors(self, db: sqlite3.Connection) -> list[int]:
        known = self._vectors.numbers()
        return [n for n in _numbers(db, "pages ORDER BY id DESC") if n not in known]

    def _without_pages(self, db: sqlite3.Connection) -> None:
        # Read before the pages, or one added now would seem deleted.
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
        """Change the catalogue, then let the index catch up."""
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
            # A page may be indexed already, by a process that was interrupted before recording it.
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
            # Damaged, and nothing of it is needed.
            shutil.rmtree(self.folder, ignore_errors=True)
            return 0
        return count

    def _unusable(self, error: Exception) -> KnowledgeError:
        said = (error.strerror or "") if isinstance(error, OSError) else str(error)
        hint = "`spadework knowledge forget --all` begins anew; --no-knowledge does without."
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

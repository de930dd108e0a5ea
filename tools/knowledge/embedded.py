"""The knowledge store without a server: a catalogue and an index under the home, shared by all processes.

Pages are in the catalogue as soon as they are added. The index is written by one at a time; who does not get its turn in time leaves the
work to the next, and nothing is lost.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout

from spadework.errors import KnowledgeError
from spadework.tools.knowledge.answer import answer
from spadework.tools.knowledge.catalogue import Catalogue, entries, transaction
from spadework.tools.knowledge.entry import Entry, Recalled, Which
from spadework.tools.knowledge.index import PassageIndex, proposed, rarity
from spadework.tools.library.query import Asked, asked
from spadework.tools.urls import canonical_url
from spadework.values import Page

T = TypeVar("T")

#: How long the turn to write the index is waited for.
LOCK_SECONDS = 10.0
#: The index is made anew when more pages were removed from it since than are kept, and more than this.
MOST_REMOVED = 500
#: Texts that are held in memory at once while the index is written.
_BATCH = 50


class EmbeddedKnowledge:
    """The store in `folder`. `clock` is the time of day in seconds."""

    def __init__(self, folder: Path, most_bytes: int, clock: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self._catalogue = Catalogue(folder / "pages.sqlite", most_bytes, clock)
        self._index: PassageIndex | None = None

    @property
    def describes(self) -> str:
        """Where it is."""
        return f"the knowledge store in {self.folder}"

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """See `Knowledge.search`."""
        return await asyncio.to_thread(self._at, lambda db: self._found(db, asked(text), limit, since.timestamp()), [])

    async def known(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """See `Knowledge.known`."""
        key, least = canonical_url(url), since.timestamp() if since else 0.0
        return await asyncio.to_thread(self._at, lambda db: self._catalogue.use(db, key, least), None)

    async def add(self, entries: Sequence[Entry]) -> int:
        """See `Knowledge.add`."""
        return await asyncio.to_thread(self._written, lambda db: self._catalogue.put(db, entries)) if entries else 0

    async def forget(self, which: Which) -> int:
        """See `Knowledge.forget`. The index is made anew, so that no word is left in it."""
        if not await asyncio.to_thread(lambda: self._catalogue.exists):
            return 0
        return await asyncio.to_thread(self._forgotten, which)

    async def pages(self, which: Which) -> AsyncIterator[Page]:
        """See `Knowledge.pages`."""
        for page in await asyncio.to_thread(self._at, lambda db: list(self._catalogue.pages(db, which)), []):
            yield page

    async def count(self) -> int:
        """See `Knowledge.count`."""
        return await asyncio.to_thread(self._at, _count, 0)

    async def close(self) -> None:
        """Let go of the index."""
        self._index = None

    def _at(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """What the work gives, or `otherwise` where nothing was ever kept."""
        try:
            if not self._catalogue.exists:
                return otherwise
            with self._catalogue.opened() as db:
                return work(db)
        except (sqlite3.Error, OSError, ValueError) as error:
            raise self._unusable(error) from None

    def _found(self, db: sqlite3.Connection, question: Asked, limit: int, since: float) -> list[Recalled]:
        searcher = self._shelf(db).searcher()
        if searcher is None or not question.terms or limit < 1:
            return []
        matches = list(proposed(searcher, question))
        known = entries(db, sorted({match.number for match in matches}), since)
        return answer(matches, known, question, {term.text: rarity(searcher, term) for term in question.terms}, limit)

    def _shelf(self, db: sqlite3.Connection) -> PassageIndex:
        """The index that counts now."""
        (generation,) = db.execute("SELECT generation FROM shelf").fetchone()
        folder = self.folder / f"index-{generation}"
        if self._index is None or self._index.folder != folder:
            self._index = PassageIndex(folder)
        return self._index

    def _written(self, work: Callable[[sqlite3.Connection], int], *, anew: bool = False) -> int:
        """Change the catalogue, then let the index catch up."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._catalogue.opened() as db:
                done = work(db)
                with FileLock(self.folder / ".lock").acquire(timeout=LOCK_SECONDS):
                    self._catch_up(db, anew=anew and done > 0)
                return done
        except Timeout:
            return done
        except (sqlite3.Error, OSError, ValueError) as error:
            raise self._unusable(error) from None

    def _catch_up(self, db: sqlite3.Connection, *, anew: bool) -> None:
        fresh = [number for (number,) in db.execute("SELECT id FROM pages WHERE indexed = 0")]
        gone = [number for (number,) in db.execute("SELECT id FROM gone")]
        (removed,) = db.execute("SELECT removed FROM shelf").fetchone()
        index = self._shelf(db)
        lost = len(fresh) < _count(db) and not index.intact
        if anew or lost or removed + len(gone) > max(MOST_REMOVED, _count(db)):
            self._rebuild(db)
        elif fresh or gone:
            # A page may be in the index already: who put it there was ended before that was noted.
            index.write(_in_batches(db, fresh), [*gone, *fresh])
            self._note(db, fresh, gone, "removed = removed + ?", len(gone))

    def _rebuild(self, db: sqlite3.Connection) -> None:
        """The index made anew beside the old one, which is then deleted."""
        old = self._shelf(db)
        (generation,) = db.execute("SELECT generation + 1 FROM shelf").fetchone()
        numbers = [number for (number,) in db.execute("SELECT id FROM pages")]
        gone = [number for (number,) in db.execute("SELECT id FROM gone")]
        made = PassageIndex(self.folder / f"index-{generation}")
        made.remove()
        made.write(_in_batches(db, numbers))
        self._note(db, numbers, gone, "removed = 0, generation = ?", generation)
        old.remove()

    def _note(self, db: sqlite3.Connection, fresh: Sequence[int], gone: Sequence[int], change: str, value: int) -> None:
        with transaction(db):
            db.executemany("UPDATE pages SET indexed = 1 WHERE id = ?", ((number,) for number in fresh))
            db.executemany("DELETE FROM gone WHERE id = ?", ((number,) for number in gone))
            db.execute(f"UPDATE shelf SET {change}", (value,))

    def _forgotten(self, which: Which) -> int:
        try:
            count = self._written(lambda db: self._catalogue.remove(db, which), anew=True)
            with self._catalogue.opened() as db:
                db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except KnowledgeError:
            if which != Which():
                raise
            shutil.rmtree(self.folder, ignore_errors=True)  # it is damaged, and nothing of it is wanted
            count = 0
        return count

    def _unusable(self, error: Exception) -> KnowledgeError:
        said = (error.strerror or "") if isinstance(error, OSError) else str(error)
        hint = "`spadework knowledge forget --all` begins anew; --no-knowledge does without."
        return KnowledgeError(f"The knowledge store in {self.folder} cannot be used: {said or type(error).__name__}.", hint=hint)


def _in_batches(db: sqlite3.Connection, numbers: Sequence[int]) -> Iterator[tuple[int, Entry]]:
    for n in range(0, len(numbers), _BATCH):
        yield from entries(db, numbers[n : n + _BATCH]).items()


def _count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT COUNT(*) FROM pages").fetchone()[0])

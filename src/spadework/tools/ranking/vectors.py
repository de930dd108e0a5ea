"""Store passage vectors in a shared SQLite file, keyed by a digest of model and text. The table
`places` records the index (`mark`) and position of each passage.
"""

from __future__ import annotations

import hashlib
import heapq
import json
import math
import sqlite3
import struct
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock

from spadework.errors import ModelError
from spadework.tools.stores.private_files import private_file
from spadework.tools.stores.session_database import transaction

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


#: Seconds to wait while another process writes or creates the tables.
BUSY_SECONDS = 10.0
_SCHEMA = """
CREATE TABLE vectors (id INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, vector BLOB NOT NULL);
CREATE TABLE places (
    mark TEXT, model TEXT, number INTEGER, start INTEGER, stop INTEGER NOT NULL,
    checksum INTEGER NOT NULL, vector INTEGER NOT NULL,
    PRIMARY KEY (mark, model, number, start)
) WITHOUT ROWID;
CREATE INDEX places_of_vector ON places (vector);
PRAGMA user_version = 1;
"""


@contextmanager
def open_to_read(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open a vector file, or yield None if it is missing. Raises ModelError if it is unusable."""
    if not path.exists():
        yield None
        return
    with open_to_write(path) as db:
        yield db


@contextmanager
def open_to_write(path: Path) -> Iterator[sqlite3.Connection]:
    """Open or create an autocommit vector file. Raises ModelError, and deletes damaged files."""
    try:
        private_file(path)
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            _make(db, path)
            db.execute("PRAGMA synchronous = NORMAL")
            # Deleted vectors must not be recoverable, because they reveal the text.
            db.execute("PRAGMA secure_delete = ON")
            yield db
    except (sqlite3.Error, OSError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        said = said or type(error).__name__
        # Delete a damaged file, because the vectors can be computed again.
        if type(error) is sqlite3.DatabaseError:
            for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
                path.with_name(name).unlink(missing_ok=True)
            said = f"{said}; they will be computed again"
        raise ModelError(f"The vectors in {path} cannot be used: {said}.") from None


def _make(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA user_version").fetchone() != (0,):
        return
    with FileLock(path.with_name(f".{path.stem}.making"), BUSY_SECONDS, 0o600):
        if db.execute("PRAGMA user_version").fetchone() == (0,):
            # The first two settings must be applied before the first table is created.
            db.execute("PRAGMA page_size = 16384")
            db.execute("PRAGMA auto_vacuum = FULL")
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(f"BEGIN; {_SCHEMA} COMMIT;")


#: Maximum number of passages to compare. In a larger index, only passages that contain words of
#: the question are compared.
MOST_PLACES = 100_000
#: Maximum number of seconds for comparing vectors. Hits found by words wait for the comparison.
SCAN_SECONDS = 2.0
#: Number of vectors to compare at once. This many fit into a CPU cache.
_BLOCK = 256
_JOINED = "FROM places JOIN vectors ON id = places.vector"
_Row = tuple[int, int, int, int, bytes]


@dataclass(frozen=True)
class Passage:
    """The passage `start:end` of document `number`. `text` is the `body` with headings."""

    number: int
    start: int
    end: int
    text: str
    body: str


@dataclass(frozen=True)
class Near:
    """The passage `start:end` of document `number`, with its similarity to a question."""

    number: int
    start: int
    end: int
    checksum: int
    cosine: float

    def stands_in(self, text: str) -> bool:
        """Return whether the passage is unchanged in the document's current text."""
        return _checksum(text[self.start : self.end]) == self.checksum


class Vectors:
    """Thread-safe storage for the vectors that `model` produces for the index identified by
    `mark`. All methods raise ModelError if the file is unusable.
    """

    def __init__(self, path: Path, mark: str, model: str) -> None:
        self.path = path
        self.model = model
        self._key = (mark, model)

    def count(self, most: int) -> int:
        """Return the number of passages with vectors, or `most` if there are more."""
        query = "SELECT COUNT(*) FROM (SELECT 1 FROM places WHERE mark = ? AND model = ? LIMIT ?)"
        with open_to_read(self.path) as db:
            return int(db.execute(query, (*self._key, most)).fetchone()[0]) if db else 0

    def numbers(self) -> set[int]:
        """Return the numbers of documents whose passages have vectors."""
        query = "SELECT DISTINCT number FROM places WHERE mark = ? AND model = ?"
        with open_to_read(self.path) as db:
            return {number for (number,) in db.execute(query, self._key)} if db else set()

    def without_vector(self, texts: Iterable[str]) -> list[str]:
        """Return the distinct texts that have no vector yet."""
        with open_to_read(self.path) as db:
            return [
                text
                for text in dict.fromkeys(texts)
                if db is None or self._find_row(db, text) is None
            ]

    def keep(self, passages: Sequence[Passage], made: Mapping[str, Sequence[float]]) -> None:
        """Store passages with the vectors in `made` (keyed by text) in one transaction. A document
        is skipped if another process has deleted one of its vectors. Raises ModelError if the
        vectors differ in size.
        """
        with open_to_write(self.path) as db, transaction(db):
            size = self._size(db)
            lost = {
                one.number
                for one in passages
                if one.text not in made and self._find_row(db, one.text) is None
            }
            for one in passages:
                if one.number in lost:
                    continue
                number, found = self._find_row(db, one.text) or self._added(
                    db, one.text, made[one.text]
                )
                size = size or found
                if found != size:
                    raise self._misfit(found, size)
                place = (*self._key, one.number, one.start, one.end, _checksum(one.body), number)
                db.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?, ?, ?)", place)

    def nearest(
        self,
        vector: Sequence[float],
        most: int,
        among: Iterable[tuple[int, int]] | None = None,
        within: Collection[int] | None = None,
    ) -> list[Near]:
        """Return at most `most` passages, nearest first. `among` limits them to the given
        (document, start) pairs, and `within` to the given documents. Raises ModelError if the
        vector has the wrong size, or if the search takes longer than SCAN_SECONDS.
        """
        import numpy as np

        asked, best = np.asarray(vector, np.float32), list[tuple[float, int, int, int, int]]()
        least, until = -math.inf, time.monotonic() + SCAN_SECONDS
        with open_to_read(self.path) as db:
            size = self._size(db) if db else 0
            if db is None or not size:
                return []
            if size != len(vector):
                raise self._misfit(len(vector), size)
            rows = self._rows(db, among)
            kept = rows if within is None else (row for row in rows if row[0] in within)
            while block := list(islice(kept, _BLOCK)):
                if time.monotonic() > until:
                    raise ModelError(
                        f"The vectors could not be compared within {SCAN_SECONDS:g} s."
                    )
                if odd := next((row for row in block if len(row[4]) - 4 != size), None):
                    raise self._misfit(len(odd[4]) - 4, size)
                found = cosines([row[4] for row in block], asked)
                better = np.flatnonzero(found > least)
                if len(better):
                    fresh = ((float(found[n]), *block[n][:4]) for n in better)
                    best = heapq.nlargest(most, [*best, *fresh])
                least = best[-1][0] if len(best) == most else least
        return [
            Near(number, start, end, checksum, cosine)
            for cosine, number, start, end, checksum in best
        ]

    def forget(self, numbers: Iterable[int]) -> None:
        """Delete the passage locations of documents (for all models) and vectors no longer used."""
        if gone := list(numbers):
            which = "mark = ? AND number IN (SELECT value FROM json_each(?))"
            self._forget(which, (self._key[0], json.dumps(gone)))

    def forget_others(self, marks: Collection[str]) -> None:
        """Delete the passage locations of indexes not in `marks`, and vectors no longer used."""
        self._forget("mark NOT IN (SELECT value FROM json_each(?))", (json.dumps(sorted(marks)),))

    def _forget(self, which: str, values: tuple[str, ...]) -> None:
        with open_to_read(self.path) as db:
            if db is None:
                return
            with transaction(db):
                query = f"SELECT DISTINCT vector FROM places WHERE {which}"
                gone = db.execute(query, values).fetchall()
                db.execute(f"DELETE FROM places WHERE {which}", values)
                used = "SELECT 1 FROM places WHERE places.vector = vectors.id"
                db.executemany(f"DELETE FROM vectors WHERE id = ? AND NOT EXISTS ({used})", gone)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _rows(
        self, db: sqlite3.Connection, among: Iterable[tuple[int, int]] | None
    ) -> Iterator[_Row]:
        found = "SELECT number, start, stop, checksum, vectors.vector"
        query = f"{found} {_JOINED} WHERE mark = ? AND model = ?"
        if among is None:
            yield from db.execute(query, self._key)
            return
        for place in dict.fromkeys(among):
            yield from db.execute(f"{query} AND number = ? AND start = ?", (*self._key, *place))

    def _size(self, db: sqlite3.Connection) -> int:
        query = f"SELECT length(vectors.vector) - 4 {_JOINED} WHERE model = ? LIMIT 1"
        found = db.execute(query, self._key[1:]).fetchone()
        return int(found[0]) if found else 0

    def _find_row(self, db: sqlite3.Connection, text: str) -> tuple[int, int] | None:
        query = "SELECT id, length(vector) - 4 FROM vectors WHERE digest = ?"
        found = db.execute(query, (self._digest(text),)).fetchone()
        return (int(found[0]), int(found[1])) if found else None

    def _added(self, db: sqlite3.Connection, text: str, vector: Sequence[float]) -> tuple[int, int]:
        query = "INSERT INTO vectors (digest, vector) VALUES (?, ?)"
        done = db.execute(query, (self._digest(text), pack_vector(vector)))
        return int(done.lastrowid or 0), len(vector)

    def _digest(self, text: str) -> bytes:
        body = f"{self.model}\n{text}".encode(errors="replace")
        return hashlib.blake2b(body, digest_size=16).digest()

    def _misfit(self, found: int, size: int) -> ModelError:
        hint = f"Another model now has this name. Rename that model, or delete {self.path}."
        return ModelError(
            f"Vectors of {self.model} now have {found} dimensions, but stored ones have {size}.",
            hint=hint,
        )


def _checksum(body: str) -> int:
    return zlib.crc32(body.encode(errors="replace"))


def pack_vector(vector: Sequence[float]) -> bytes:
    """Pack a vector as a float32 factor and signed bytes (error: up to 1/254 of the maximum)."""
    import numpy as np

    numbers = np.asarray(vector, np.float32)
    factor = float(np.abs(numbers).max(initial=0.0)) / 127 or 1.0
    return struct.pack("<f", factor) + bytes(np.rint(numbers / factor).astype(np.int8))


def cosines(vectors: Sequence[bytes], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return each stored vector's cosine similarity to a question's vector."""
    import numpy as np

    rows = np.frombuffer(
        b"".join(vectors), np.dtype([("factor", "<f4"), ("numbers", "i1", question.shape)])
    )
    found: NDArray[np.float32] = (rows["numbers"].astype(np.float32) @ question) * rows["factor"]
    return found

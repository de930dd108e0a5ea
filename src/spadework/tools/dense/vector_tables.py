"""Tables of the vector file, and access to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock

from spadework.errors import ModelError
from spadework.tools.stores.private_files import private_file

#: Seconds to wait for another process that writes or creates the tables.
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
def reading(path: Path) -> Iterator[sqlite3.Connection | None]:
    """Open the file, yielding None if there is none. Raises ModelError if it is unusable."""
    if not path.exists():
        yield None
        return
    with writing(path) as db:
        yield db


@contextmanager
def writing(path: Path) -> Iterator[sqlite3.Connection]:
    """Open or create the file; every statement commits. Raises ModelError if it is unusable."""
    try:
        private_file(path)
        with closing(sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            _make(db, path)
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA secure_delete = ON")  # a vector reveals its text
            yield db
    except (sqlite3.Error, OSError) as error:
        said = error.strerror if isinstance(error, OSError) else str(error)
        said = said or type(error).__name__
        # Not a database, or damaged: nothing can be saved.
        if type(error) is sqlite3.DatabaseError:
            for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
                path.with_name(name).unlink(missing_ok=True)
            said = f"{said}; they are made anew"
        raise ModelError(f"The vectors in {path} cannot be used: {said}.") from None


def _make(db: sqlite3.Connection, path: Path) -> None:
    if db.execute("PRAGMA user_version").fetchone() != (0,):
        return
    with FileLock(path.with_name(f".{path.stem}.making"), BUSY_SECONDS, 0o600):
        if db.execute("PRAGMA user_version").fetchone() == (0,):
            db.execute("PRAGMA page_size = 16384")  # both must be set before the first table exists
            db.execute("PRAGMA auto_vacuum = FULL")
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(f"BEGIN; {_SCHEMA} COMMIT;")

"""Store a session in one SQLite file."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import aiosqlite

from spadework.errors import SessionUnreadable
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.journal_rows import AnswerRow, ExchangeRow, JournalRows
from spadework.tools.stores.private_files import private_file

BUSY_SECONDS = 20.0
#: Version of the file format.
VERSION = 1
_SCHEMA = """
CREATE TABLE IF NOT EXISTS journal (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, answer TEXT, error TEXT,
    used TEXT NOT NULL, elapsed REAL NOT NULL, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE TABLE IF NOT EXISTS exchanges (
    number INTEGER PRIMARY KEY, key TEXT NOT NULL, kind TEXT NOT NULL, request BLOB NOT NULL,
    pieces TEXT NOT NULL, error TEXT, used TEXT NOT NULL, elapsed REAL NOT NULL,
    at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
);
CREATE INDEX IF NOT EXISTS exchanges_by_key ON exchanges (key);
CREATE TABLE IF NOT EXISTS bodies (hash TEXT PRIMARY KEY, packed BLOB NOT NULL);
"""


async def connect(path: Path) -> aiosqlite.Connection:
    """Connect to the SQLite file `path`. If cancelled, wait for the connection and close it."""

    await on_disk(private_file, path)

    async def connect() -> aiosqlite.Connection:
        return await aiosqlite.connect(path, timeout=BUSY_SECONDS)

    connecting = asyncio.create_task(connect())
    try:
        return await asyncio.shield(connecting)
    except asyncio.CancelledError:
        await asyncio.wait({connecting})
        if not connecting.cancelled() and not connecting.exception():
            await stop_connection(connecting.result())
        raise


async def prepare(db: aiosqlite.Connection) -> None:
    """Create missing tables. Raises SessionUnreadable if a later version wrote the file, and
    sqlite3.DatabaseError if the file is damaged.
    """
    try:
        [(version,)] = await db.execute_fetchall("PRAGMA user_version")
        await _check(db)
    except UnicodeDecodeError as error:  # SQLite's message quotes a damaged name
        raise sqlite3.DatabaseError("its tables are damaged") from error
    if version > VERSION:
        raise SessionUnreadable(
            f"The journal of this session was written by a newer spadework (file version"
            f" {version}; this one supports {VERSION}).",
            hint="Update spadework to continue it.",
        )
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL"):
        await db.execute_fetchall(statement)
    for statement in _SCHEMA.split(";"):
        await db.execute_fetchall(statement)
    await db.execute_fetchall(f"PRAGMA user_version = {VERSION}")
    await db.commit()


async def _check(db: aiosqlite.Connection) -> None:
    """Raise sqlite3.DatabaseError if the file is damaged, even if partly readable."""
    [(said,)] = await db.execute_fetchall("PRAGMA quick_check(1)")
    if said != "ok":
        raise sqlite3.DatabaseError(" ".join(str(said).split())[:150])


async def stop_connection(db: aiosqlite.Connection) -> None:
    """Stop a connection's thread, which would otherwise keep the process alive."""
    ended = db.stop()
    if ended is not None:
        await asyncio.wait({ended}, timeout=BUSY_SECONDS)


_PUT_ANSWER = (
    "INSERT OR REPLACE INTO journal (key, kind, subject, answer, error, used, elapsed)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_PUT_EXCHANGE = (
    "INSERT INTO exchanges (key, kind, request, pieces, error, used, elapsed)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class SqliteRows(JournalRows):
    """Stores the journal's rows in SQLite. Other code may share the connection `db`."""

    def __init__(self, db: aiosqlite.Connection) -> None:
        self.db = db

    @classmethod
    async def open(cls, path: Path) -> Self:
        """Open or create the journal at `path`. Raises the same errors as `prepare`."""
        db = await connect(path)
        try:
            await prepare(db)
        except BaseException:
            await stop_connection(db)
            raise
        return cls(db)

    @classmethod
    async def read(cls, path: Path) -> Self:
        """Open the journal at `path` for reading only. Raises sqlite3.Error."""
        return cls(await aiosqlite.connect(f"{path.as_uri()}?mode=ro", uri=True))

    async def put_answer(self, row: AnswerRow) -> None:
        """See `JournalRows.put_answer`."""
        await self.ask(_PUT_ANSWER, *row)
        await self.db.commit()

    async def put_exchange(self, row: ExchangeRow) -> None:
        """See `JournalRows.put_exchange`."""
        await self.ask(_PUT_EXCHANGE, *row)
        await self.db.commit()

    async def put_body(self, name: str, packed: bytes) -> None:
        """See `JournalRows.put_body`. The body is committed with the next row."""
        await self.ask("INSERT OR IGNORE INTO bodies (hash, packed) VALUES (?, ?)", name, packed)

    async def close(self) -> None:
        """Roll back any cancelled write, and close the file."""
        try:
            await self.db.execute_fetchall("PRAGMA query_only = ON")
            await self.db.rollback()
        except BaseException:
            await stop_connection(self.db)
            raise
        # Do this outside the `try`, because `close` stops the thread even if cancelled, and
        # stopping the thread twice would hang.
        await self.db.close()

    async def abandon(self) -> None:
        """See `JournalRows.abandon`."""
        await stop_connection(self.db)

    async def ask(self, statement: str, *values: Any) -> list[Any]:
        """See `JournalRows.ask`."""
        return list(await self.db.execute_fetchall(statement, values))


@contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the statements in the context as one transaction."""
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")

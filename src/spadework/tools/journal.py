"""The journal of a session: every search, fetch and model call under a key of its content,
committed with its answer before that is used.

So a run that was killed, half-done workers included, is never charged twice; and two workers that
want one page fetch it once.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Self, TypeVar

import aiosqlite
from pydantic import TypeAdapter

from spadework import errors
from spadework.budget import Budget
from spadework.errors import FetchError, SpadeworkError
from spadework.values import Usage

T = TypeVar("T")

#: How long a statement waits for another connection's write.
BUSY_SECONDS = 20.0

_SCHEMA = """
CREATE TABLE IF NOT EXISTS journal (
    key TEXT PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, answer TEXT, error TEXT,
    used TEXT NOT NULL, elapsed REAL NOT NULL, at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP
)"""


class Journal:
    """Answers that were paid for. Beside each stands what the run had used by then, so that a
    resumed run knows its purse and clock.
    """

    def __init__(self, db: aiosqlite.Connection, budget: Budget) -> None:
        self._db = db
        self._budget = budget
        self._running: dict[str, asyncio.Event] = {}

    @classmethod
    async def open(cls, path: Path, budget: Budget) -> Self:
        """Open or make the journal at `path` and set `budget` to what earlier processes of this
        session used.
        """
        db = await _connected(path)
        try:
            for statement in ("PRAGMA journal_mode = WAL", "PRAGMA synchronous = NORMAL", _SCHEMA):
                await db.execute_fetchall(statement)
            journal = cls(db, budget)
            await journal._restore()
        except BaseException:
            await _stopped(db)
            raise
        return journal

    @property
    def connection(self) -> aiosqlite.Connection:
        """The connection to the session's file. The checkpoints use it, too: two writers of one
        file would wait for each other.
        """
        return self._db

    async def close(self) -> None:
        """Close the file. What a cancelled write left open is rolled back first: closed with it,
        the connection would keep its lock.

        Nor may what a cancelled run still sends begin another write in between.
        """
        try:
            await self._db.execute_fetchall("PRAGMA query_only = ON")
            await self._db.rollback()
        except BaseException:
            await _stopped(self._db)
            raise
        # ends its thread also when it is cancelled; to stop it once more would be to wait for
        # nobody
        await self._db.close()

    async def once(
        self, kind: str, key: Any, shape: type[T], work: Callable[[], Awaitable[T]]
    ) -> T:
        """The answer of `work()`, done once for `kind` and `key` (JSON) in the life of the session.

        `shape` is the answer's type. A final failure (FetchError.final) is kept and raised again;
        any other may be tried again.
        """
        subject, digest = _named(kind, key)
        while True:
            row = await self._row(digest)
            if row is not None:
                self._budget.add(cache_hits=1)
                return _answer(row, shape)
            if digest not in self._running:
                break
            await self._running[digest].wait()
        done = self._running[digest] = asyncio.Event()
        try:
            value = await work()
            await self._keep(
                digest, kind, subject, TypeAdapter(shape).dump_json(value).decode(), None
            )
        except FetchError as error:
            if error.final:
                await self._keep(
                    digest,
                    kind,
                    subject,
                    None,
                    json.dumps([type(error).__name__, str(error), error.hint]),
                )
            raise
        finally:
            del self._running[digest]
            done.set()
        return value

    async def known(self, kind: str, key: Any, shape: type[T]) -> T | None:
        """The answer that is kept for `kind` and `key`, None where there is none: nothing is done.
        Raises a failure that was kept.
        """
        row = await self._row(_named(kind, key)[1])
        return None if row is None else _answer(row, shape)

    async def _row(self, digest: str) -> tuple[str | None, str | None] | None:
        rows = list(
            await self._db.execute_fetchall(
                "SELECT answer, error FROM journal WHERE key = ?", (digest,)
            )
        )
        return (rows[0][0], rows[0][1]) if rows else None

    async def _keep(
        self, digest: str, kind: str, subject: str, answer: str | None, error: str | None
    ) -> None:
        used, elapsed = self._budget.used.model_dump_json(), self._budget.elapsed()
        await self._db.execute_fetchall(
            "INSERT OR IGNORE INTO journal (key, kind, subject, answer, error, used, elapsed)"
            " VALUES (?, ?, ?, ?, ?, ?, ?)",
            (digest, kind, subject[:500], answer, error, used, elapsed),
        )
        await self._db.commit()

    async def _restore(self) -> None:
        rows = list(
            await self._db.execute_fetchall(
                "SELECT used, elapsed FROM journal ORDER BY rowid DESC LIMIT 1"
            )
        )
        if rows:
            used, elapsed = rows[0]
            self._budget.start(
                self._budget.started - float(elapsed), Usage.model_validate_json(used)
            )


def _named(kind: str, key: Any) -> tuple[str, str]:
    """A key as text, and the digest under which its answer stands."""
    subject = json.dumps(key, sort_keys=True, ensure_ascii=False)
    return subject, hashlib.sha256(f"{kind}\n{subject}".encode()).hexdigest()


def _answer(row: tuple[str | None, str | None], shape: type[T]) -> T:
    answer, error = row
    if error is not None:
        name, message, hint = json.loads(error)
        kept: type[SpadeworkError] = getattr(errors, name)
        raise kept(message, hint=hint)
    return TypeAdapter(shape).validate_json(answer or "null")


async def _connected(path: Path) -> aiosqlite.Connection:
    """A connection. Who is cancelled meanwhile waits for it and closes it: its thread answers to an
    event loop that must still be there.
    """

    async def connect() -> aiosqlite.Connection:
        return await aiosqlite.connect(path, timeout=BUSY_SECONDS)

    connecting = asyncio.create_task(connect())
    try:
        return await asyncio.shield(connecting)
    except asyncio.CancelledError:
        await asyncio.wait({connecting})
        if not connecting.cancelled() and not connecting.exception():
            await _stopped(connecting.result())
        raise


async def _stopped(db: aiosqlite.Connection) -> None:
    """End the thread of a connection, which would keep the process from ending, whatever it is
    doing.
    """
    ended = db.stop()
    if ended is not None:
        await asyncio.wait({ended}, timeout=BUSY_SECONDS)

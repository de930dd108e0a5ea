"""The rows of a journal in the SQLite file of its session."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import aiosqlite

from spadework.tools.stores.charges import USED
from spadework.tools.stores.journal_rows import AnswerRow, ExchangeRow, FoundExchange
from spadework.tools.stores.session_database import connect, prepare, stop_connection

_OF_KEY = "SELECT number, pieces, error, used, elapsed FROM exchanges WHERE key = ? ORDER BY number"
_REFUSED = (
    "SELECT error FROM exchanges WHERE error LIKE '[\"BudgetSpent\"%' ORDER BY number LIMIT 1"
)
_PUT_ANSWER = (
    "INSERT OR REPLACE INTO journal (key, kind, subject, answer, error, used, elapsed)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_PUT_EXCHANGE = (
    "INSERT INTO exchanges (key, kind, request, pieces, error, used, elapsed)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_OPENED = "SELECT ifnull(max(number), 0) FROM exchanges WHERE kind = 'opened' AND number < ?"


class SqliteRows:
    """The rows behind a connection that others use, too."""

    def __init__(self, db: aiosqlite.Connection) -> None:
        self.db = db

    @classmethod
    async def open(cls, path: Path) -> Self:
        """The rows at a path, made where there are none. Raises SessionUnreadable for a later
        version, sqlite3.Error where the file is damaged.
        """
        db = await connect(path)
        try:
            await prepare(db)
        except BaseException:
            await stop_connection(db)
            raise
        return cls(db)

    @classmethod
    async def read(cls, path: Path) -> Self:
        """The rows at a path, of which nothing is changed. Raises sqlite3.Error."""
        return cls(await aiosqlite.connect(f"{path.as_uri()}?mode=ro", uri=True))

    async def answer(self, key: str) -> tuple[str | None, str | None] | None:
        """See `JournalRows`, as for the others."""
        rows = await self._ask("SELECT answer, error FROM journal WHERE key = ?", key)
        return next(((answer, error) for answer, error in rows), None)

    async def put_answer(self, row: AnswerRow) -> None:
        """Put a row in place of the one under its key."""
        await self._ask(_PUT_ANSWER, *row)
        await self.db.commit()

    async def count(self, kind: str) -> int:
        """How many answers of a kind there are."""
        return len(await self._ask("SELECT 1 FROM journal WHERE kind = ?", kind))

    async def exchanges(self, key: str) -> list[FoundExchange]:
        """All exchanges under a key, the oldest first."""
        return [FoundExchange(*row) for row in await self._ask(_OF_KEY, key)]

    async def put_exchange(self, row: ExchangeRow) -> None:
        """Put one more exchange."""
        await self._ask(_PUT_EXCHANGE, *row)
        await self.db.commit()

    async def requests(self, kind: str) -> list[bytes]:
        """The requests of a kind, the oldest first."""
        asked = "SELECT request FROM exchanges WHERE kind = ? ORDER BY number"
        return [data for (data,) in await self._ask(asked, kind)]

    async def opened_before(self, number: int) -> int:
        """The number of the last exchange before another that tells that a process has begun."""
        [(opened,)] = await self._ask(_OPENED, number)
        return int(opened)

    async def refused(self) -> str | None:
        """The error of the first exchange that the budget could not pay for."""
        return next((error for (error,) in await self._ask(_REFUSED)), None)

    async def charges(self) -> Iterable[tuple[str, float]]:
        """What each answer and each exchange has used, and when."""
        return await self._ask(USED)

    async def body(self, name: str) -> bytes | None:
        """The packed body under a hash."""
        rows = await self._ask("SELECT packed FROM bodies WHERE hash = ?", name)
        return next((data for (data,) in rows), None)

    async def has_body(self, name: str) -> bool:
        """Whether there is a body under a hash."""
        return bool(await self._ask("SELECT 1 FROM bodies WHERE hash = ?", name))

    async def put_body(self, name: str, packed: bytes) -> None:
        """Put a body; it is committed with what is put next."""
        await self._ask("INSERT OR IGNORE INTO bodies (hash, packed) VALUES (?, ?)", name, packed)

    async def size(self) -> float:
        """The bytes of all bodies."""
        [(size,)] = await self._ask("SELECT total(length(packed)) FROM bodies")
        return float(size)

    async def close(self) -> None:
        """Close the file. What a cancelled write left open is rolled back first: closed with it,
        the connection would keep its lock.

        Nor may what a cancelled run still sends begin another write in between.
        """
        try:
            await self.db.execute_fetchall("PRAGMA query_only = ON")
            await self.db.rollback()
        except BaseException:
            await stop_connection(self.db)
            raise
        # ends its thread also when it is cancelled; to stop it once more would be to wait for
        # nobody
        await self.db.close()

    async def abandon(self) -> None:
        """End the thread of the connection."""
        await stop_connection(self.db)

    async def _ask(self, statement: str, *values: Any) -> list[Any]:
        return list(await self.db.execute_fetchall(statement, values))

"""The rows of a journal in the SQLite file of its session."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import aiosqlite

from spadework.tools.stores.journal_rows import AnswerRow, ExchangeRow, JournalRows
from spadework.tools.stores.session_database import connect, prepare, stop_connection

_PUT_ANSWER = (
    "INSERT OR REPLACE INTO journal (key, kind, subject, answer, error, used, elapsed)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
_PUT_EXCHANGE = (
    "INSERT INTO exchanges (key, kind, request, pieces, error, used, elapsed)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)


class SqliteRows(JournalRows):
    """The rows behind a connection that others use, too."""

    def __init__(self, db: aiosqlite.Connection) -> None:
        self.db = db

    @classmethod
    async def open(cls, path: Path) -> Self:
        """The rows at a path, made where there are none. Raises SessionUnreadable for those of a
        later version, sqlite3.Error for damaged ones.
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

    async def put_answer(self, row: AnswerRow) -> None:
        """Put a row in place of the one under its key."""
        await self.ask(_PUT_ANSWER, *row)
        await self.db.commit()

    async def put_exchange(self, row: ExchangeRow) -> None:
        """Put one more exchange."""
        await self.ask(_PUT_EXCHANGE, *row)
        await self.db.commit()

    async def put_body(self, name: str, packed: bytes) -> None:
        """Put a body; it is committed with what is put next."""
        await self.ask("INSERT OR IGNORE INTO bodies (hash, packed) VALUES (?, ?)", name, packed)

    async def close(self) -> None:
        """Close the file, a cancelled write rolled back first: with it the connection would keep
        its lock. Nor may what a cancelled run still sends begin another write.
        """
        try:
            await self.db.execute_fetchall("PRAGMA query_only = ON")
            await self.db.rollback()
        except BaseException:
            await stop_connection(self.db)
            raise
        # ends its thread also when cancelled; stopped again it would be waited for in vain
        await self.db.close()

    async def abandon(self) -> None:
        """End the thread of the connection."""
        await stop_connection(self.db)

    async def ask(self, statement: str, *values: Any) -> list[Any]:
        """See `JournalRows`."""
        return list(await self.db.execute_fetchall(statement, values))

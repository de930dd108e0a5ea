"""Define journal rows, and a worker's claim to a session."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from spadework.budget import total
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.private_files import write_atomically
from spadework.values import Usage

#: Selects the usage (JSON) of each answer and exchange, and the run time in seconds when it was
#: recorded.
USED = "SELECT used, elapsed FROM journal UNION ALL SELECT used, elapsed FROM exchanges"
_OF_KEY = "SELECT number, pieces, error, used, elapsed FROM exchanges WHERE key = ? ORDER BY number"
_OPENED = "SELECT coalesce(max(number), 0) FROM exchanges WHERE kind = 'opened' AND number < ?"
_REFUSED = (
    "SELECT error FROM exchanges WHERE substr(error, 1, 14) = '[\"BudgetSpent\"'"
    " ORDER BY number LIMIT 1"
)


class AnswerRow(NamedTuple):
    """An answer or final failure, with its usage (JSON) and the run time so far (seconds)."""

    key: str
    kind: str
    subject: str
    answer: str | None
    error: str | None
    used: str
    elapsed: float


class ExchangeRow(NamedTuple):
    """An exchange to store. `request` is compressed JSON, and `pieces` (JSON) lists each received
    item's head and body hash.
    """

    key: str
    kind: str
    request: bytes
    pieces: str
    error: str | None
    used: str
    elapsed: float


class FoundExchange(NamedTuple):
    """A stored exchange. Later exchanges have higher numbers."""

    number: int
    pieces: str
    error: str | None
    used: str
    elapsed: float


class JournalRows(ABC):
    """A journal's storage. Any method may raise OSError or sqlite3.Error."""

    @abstractmethod
    async def ask(self, statement: str, *values: Any) -> list[Any]:
        """Run portable SQL with `?` placeholders, and return its rows."""

    @abstractmethod
    async def put_answer(self, row: AnswerRow) -> None:
        """Store an answer, replacing any with the same key."""

    @abstractmethod
    async def put_exchange(self, row: ExchangeRow) -> None:
        """Add an exchange."""

    @abstractmethod
    async def put_body(self, name: str, packed: bytes) -> None:
        """Store a compressed body under its hash `name`, unless it is already stored."""

    @abstractmethod
    async def close(self) -> None:
        """Release all resources, rolling back unfinished writes."""

    @abstractmethod
    async def abandon(self) -> None:
        """Release all resources immediately, whatever is still running."""

    async def answer(self, key: str) -> tuple[str | None, str | None] | None:
        """Return the answer and error stored under a key, or None."""
        return next(
            iter(await self.ask("SELECT answer, error FROM journal WHERE key = ?", key)), None
        )

    async def count(self, kind: str) -> int:
        """Return the number of answers of a kind."""
        [(count,)] = await self.ask("SELECT count(*) FROM journal WHERE kind = ?", kind)
        return int(count)

    async def exchanges(self, key: str) -> list[FoundExchange]:
        """Return all exchanges under a key, oldest first."""
        return [FoundExchange(*row) for row in await self.ask(_OF_KEY, key)]

    async def requests(self, kind: str) -> list[bytes]:
        """Return the requests of a kind, oldest first."""
        asked = "SELECT request FROM exchanges WHERE kind = ? ORDER BY number"
        return [data for (data,) in await self.ask(asked, kind)]

    async def opened_before(self, number: int) -> int:
        """Return the number of the last row before `number` that records a process start, or 0."""
        [(opened,)] = await self.ask(_OPENED, number)
        return int(opened)

    async def refused(self) -> str | None:
        """Return the error (JSON) of the first exchange that a budget limit prevented, or None."""
        return next((error for (error,) in await self.ask(_REFUSED)), None)

    async def charges(self) -> list[tuple[str, float]]:
        """Return the usage (JSON) and run time (seconds) of each answer and exchange."""
        return await self.ask(USED)

    async def body(self, name: str) -> bytes | None:
        """Return the compressed body with the hash `name`, or None."""
        rows = await self.ask("SELECT packed FROM bodies WHERE hash = ?", name)
        return next((data for (data,) in rows), None)

    async def has_body(self, name: str) -> bool:
        """Return whether a body with the hash `name` is stored."""
        return bool(await self.ask("SELECT 1 FROM bodies WHERE hash = ?", name))

    async def size(self) -> float:
        """Return the total size of all bodies in bytes."""
        [(size,)] = await self.ask("SELECT coalesce(sum(length(packed)), 0) FROM bodies")
        return float(size)


def sum_charges(rows: Iterable[Any]) -> tuple[Usage, float] | None:
    """Return the total usage and latest time, or None for no rows. Raises sqlite3.DatabaseError."""
    try:
        read = [(json.loads(used), float(elapsed)) for used, elapsed in rows]
        used = total(amounts for amounts, _ in read)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise sqlite3.DatabaseError("the recorded charges cannot be read") from error
    return (used, max(elapsed for _, elapsed in read)) if read else None


class Claim(Protocol):
    """A worker's claim to a session. Any method may raise ClaimLost (an OSError)."""

    @property
    def session_id(self) -> str:
        """The id of the claimed session."""
        ...

    def journal_rows(self) -> JournalRows:
        """Return the rows of the session's journal."""
        ...

    async def tell(self, lines: bytes) -> None:
        """Store lines of the event record, and notify the session's watchers."""

    async def keep_file(self, name: str, data: bytes) -> None:
        """Store a file under `name`, its path within the session's folder."""


#: The worker's claim to the session that it is running. A worker sets it for each session.
CLAIM: ContextVar[Claim | None] = ContextVar("claim", default=None)


def claim_on(session_id: str) -> Claim | None:
    """Return the current claim to a session, or None for a local session."""
    claim = CLAIM.get()
    return claim if claim is not None and claim.session_id == session_id else None


async def keep_file(path: Path, data: bytes) -> None:
    """Write a file in a session's subfolder. For a claimed session, other machines get it too."""
    if claim := claim_on(path.parent.parent.name):
        await claim.keep_file(f"{path.parent.name}/{path.name}", data)
    await on_disk(write_atomically, path, data)

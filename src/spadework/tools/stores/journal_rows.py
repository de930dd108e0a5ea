"""The rows of a session's journal, and the claim under which they are written."""

from __future__ import annotations

import json
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextvars import ContextVar
from typing import Any, NamedTuple, Protocol

from spadework.bill import total
from spadework.values import Usage

#: The charge of each answer, and at which second of the run it was.
USED = "SELECT used, elapsed FROM journal UNION ALL SELECT used, elapsed FROM exchanges"
_OF_KEY = "SELECT number, pieces, error, used, elapsed FROM exchanges WHERE key = ? ORDER BY number"
_OPENED = "SELECT coalesce(max(number), 0) FROM exchanges WHERE kind = 'opened' AND number < ?"
_REFUSED = (
    "SELECT error FROM exchanges WHERE substr(error, 1, 14) = '[\"BudgetSpent\"'"
    " ORDER BY number LIMIT 1"
)


class AnswerRow(NamedTuple):
    """What was made of an answer, or how it failed for good; what it has used (JSON), and when."""

    key: str
    kind: str
    subject: str
    answer: str | None
    error: str | None
    used: str
    elapsed: float


class ExchangeRow(NamedTuple):
    """What was asked, packed, and what came: heads with the hashes of their bodies (JSON)."""

    key: str
    kind: str
    request: bytes
    pieces: str
    error: str | None
    used: str
    elapsed: float


class FoundExchange(NamedTuple):
    """An exchange that was written down; the numbers rise in the order of writing."""

    number: int
    pieces: str
    error: str | None
    used: str
    elapsed: float


class JournalRows(ABC):
    """A row is there for good when it was put. Errors are those of the system or of SQLite."""

    @abstractmethod
    async def ask(self, statement: str, *values: Any) -> list[Any]:
        """The rows that SQL gives which all databases understand; `?` stands for a value."""

    @abstractmethod
    async def put_answer(self, row: AnswerRow) -> None:
        """Put a row in place of the one under its key."""

    @abstractmethod
    async def put_exchange(self, row: ExchangeRow) -> None:
        """Put one more exchange."""

    @abstractmethod
    async def put_body(self, name: str, packed: bytes) -> None:
        """Put a body, where it is not there yet."""

    @abstractmethod
    async def close(self) -> None:
        """Give back what is held; what is not put by now is not put any more."""

    @abstractmethod
    async def abandon(self) -> None:
        """Let go of it at once, whatever is being done."""

    async def answer(self, key: str) -> tuple[str | None, str | None] | None:
        """Answer and error under a key, None where there is no row."""
        return next(
            iter(await self.ask("SELECT answer, error FROM journal WHERE key = ?", key)), None
        )

    async def count(self, kind: str) -> int:
        """How many answers of a kind there are."""
        [(count,)] = await self.ask("SELECT count(*) FROM journal WHERE kind = ?", kind)
        return int(count)

    async def exchanges(self, key: str) -> list[FoundExchange]:
        """All exchanges under a key, the oldest first."""
        return [FoundExchange(*row) for row in await self.ask(_OF_KEY, key)]

    async def requests(self, kind: str) -> list[bytes]:
        """The requests of a kind, the oldest first."""
        asked = "SELECT request FROM exchanges WHERE kind = ? ORDER BY number"
        return [data for (data,) in await self.ask(asked, kind)]

    async def opened_before(self, number: int) -> int:
        """The number of the last exchange before another that tells that a process began; 0 without
        one.
        """
        [(opened,)] = await self.ask(_OPENED, number)
        return int(opened)

    async def refused(self) -> str | None:
        """The error of the first exchange that the budget could not pay for."""
        return next((error for (error,) in await self.ask(_REFUSED)), None)

    async def charges(self) -> list[tuple[str, float]]:
        """What each answer and each exchange has used, and when."""
        return await self.ask(USED)

    async def body(self, name: str) -> bytes | None:
        """The packed body under a hash, None where there is none."""
        rows = await self.ask("SELECT packed FROM bodies WHERE hash = ?", name)
        return next((data for (data,) in rows), None)

    async def has_body(self, name: str) -> bool:
        """Whether there is a body under a hash."""
        return bool(await self.ask("SELECT 1 FROM bodies WHERE hash = ?", name))

    async def size(self) -> float:
        """The bytes of all bodies."""
        [(size,)] = await self.ask("SELECT coalesce(sum(length(packed)), 0) FROM bodies")
        return float(size)


def sum_charges(rows: Iterable[Any]) -> tuple[Usage, float] | None:
    """What was charged, and when last (s); None for nothing. Raises sqlite3.DatabaseError."""
    try:
        read = [(json.loads(used), float(elapsed)) for used, elapsed in rows]
        used = total(amounts for amounts, _ in read)
    except (ValueError, TypeError, LookupError, AttributeError) as error:
        raise sqlite3.DatabaseError("what was charged cannot be read") from error
    return (used, max(elapsed for _, elapsed in read)) if read else None


class Claim(Protocol):
    """Everything raises ClaimLost, an OSError, once another process runs the session."""

    @property
    def session_id(self) -> str:
        """The session that is claimed."""
        ...

    def journal_rows(self) -> JournalRows:
        """The rows of its journal."""
        ...

    async def tell(self, lines: bytes) -> None:
        """Keep lines of its record, and wake who watches."""

    async def keep_file(self, name: str, data: bytes) -> None:
        """Keep a file of its folder, by its path in there."""


#: The claim under which this is done; set by a worker around each session that it runs.
CLAIM: ContextVar[Claim | None] = ContextVar("claim", default=None)


def claim_on(session_id: str) -> Claim | None:
    """The claim to a session under which this is done, None where it is one machine's alone."""
    claim = CLAIM.get()
    return claim if claim is not None and claim.session_id == session_id else None

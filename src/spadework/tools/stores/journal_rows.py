"""The rows of a session's journal, wherever they are kept: what was made of answers, the exchanges
as they came, and their bodies.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol


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


class JournalRows(Protocol):
    """A row is there for good when it was put. Errors are those of the system or of SQLite."""

    async def answer(self, key: str) -> tuple[str | None, str | None] | None:
        """Answer and error under a key, None where there is no row."""

    async def put_answer(self, row: AnswerRow) -> None:
        """Put a row in place of the one under its key."""

    async def count(self, kind: str) -> int:
        """How many answers of a kind there are."""
        ...

    async def exchanges(self, key: str) -> list[FoundExchange]:
        """All exchanges under a key, the oldest first."""
        ...

    async def put_exchange(self, row: ExchangeRow) -> None:
        """Put one more exchange."""

    async def requests(self, kind: str) -> list[bytes]:
        """The requests of a kind, the oldest first."""
        ...

    async def opened_before(self, number: int) -> int:
        """The number of the last exchange before another that tells that a process has begun; 0
        where there is none.
        """
        ...

    async def refused(self) -> str | None:
        """The error of the first exchange that the budget could not pay for."""

    async def charges(self) -> Iterable[tuple[str, float]]:
        """What each answer and each exchange has used, and when."""
        ...

    async def body(self, name: str) -> bytes | None:
        """The packed body under a hash, None where there is none."""

    async def has_body(self, name: str) -> bool:
        """Whether there is a body under a hash."""
        ...

    async def put_body(self, name: str, packed: bytes) -> None:
        """Put a body, where it is not there yet."""

    async def size(self) -> float:
        """The bytes of all bodies."""
        ...

    async def close(self) -> None:
        """Give back what is held; what is not put by now is not put any more."""

    async def abandon(self) -> None:
        """Let go of it at once, whatever is being done."""

"""The rows of a journal in the database, written under the claim to their session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from spadework.tools.stores.journal_rows import AnswerRow, ExchangeRow, FoundExchange

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.session_claim import SessionClaim

_ANSWER = "SELECT answer, error FROM journal WHERE session = %s AND key = %s"
_COUNT = "SELECT count(*) FROM journal WHERE session = %s AND kind = %s"
_OF_KEY = (
    "SELECT number, pieces, error, used, elapsed FROM exchanges WHERE session = %s AND key = %s"
    " ORDER BY number"
)
_REQUESTS = "SELECT request FROM exchanges WHERE session = %s AND kind = %s ORDER BY number"
_OPENED = (
    "SELECT coalesce(max(number), 0) FROM exchanges"
    " WHERE session = %s AND kind = 'opened' AND number < %s"
)
_REFUSED = (
    "SELECT error FROM exchanges WHERE session = %s AND starts_with(error, '[\"BudgetSpent\"')"
    " ORDER BY number LIMIT 1"
)
_CHARGES = (
    "SELECT used, elapsed FROM journal WHERE session = %s"
    " UNION ALL SELECT used, elapsed FROM exchanges WHERE session = %s"
)
_BODY = "SELECT packed FROM bodies WHERE session = %s AND hash = %s"
_HAS_BODY = "SELECT 1 FROM bodies WHERE session = %s AND hash = %s"
_SIZE = "SELECT coalesce(sum(length(packed)), 0) FROM bodies WHERE session = %s"
_PUT_ANSWER = (
    "INSERT INTO journal (session, key, kind, subject, answer, error, used, elapsed)"
    " SELECT id, %s, %s, %s, %s, %s, %s, %s FROM mine"
    " ON CONFLICT (session, key) DO UPDATE SET answer = excluded.answer, error = excluded.error,"
    " used = excluded.used, elapsed = excluded.elapsed, at = now()"
)
_PUT_EXCHANGE = (
    "INSERT INTO exchanges (session, number, key, kind, request, pieces, error, used, elapsed)"
    " SELECT id, %s, %s, %s, %s, %s, %s, %s, %s FROM mine ON CONFLICT DO NOTHING"
)
_PUT_BODY = (
    "INSERT INTO bodies (session, hash, packed) SELECT id, %s, %s FROM mine ON CONFLICT DO NOTHING"
)


class PostgresRows:
    """The rows of the session that is claimed; see `JournalRows`. Raises DatabaseDown,
    ClaimLost.
    """

    def __init__(self, claim: SessionClaim) -> None:
        self._claim = claim
        self._session = claim.session_id

    async def answer(self, key: str) -> tuple[str | None, str | None] | None:
        """Answer and error under a key, None where there is no row."""
        rows = await self._ask(_ANSWER, key)
        return next(((answer, error) for answer, error in rows), None)

    async def put_answer(self, row: AnswerRow) -> None:
        """Put a row in place of the one under its key."""
        subject = row.subject.encode(errors="replace").decode()  # for people; it may be cut
        await self._claim.write(_PUT_ANSWER, *row._replace(subject=subject))

    async def count(self, kind: str) -> int:
        """How many answers of a kind there are."""
        [(count,)] = await self._ask(_COUNT, kind)
        return int(count)

    async def exchanges(self, key: str) -> list[FoundExchange]:
        """All exchanges under a key, the oldest first."""
        return [FoundExchange(*row) for row in await self._ask(_OF_KEY, key)]

    async def put_exchange(self, row: ExchangeRow) -> None:
        """Put one more exchange; it is one also where the statement is sent twice."""
        self._claim.exchanged += 1
        await self._claim.write(_PUT_EXCHANGE, self._claim.exchanged, *row)

    async def requests(self, kind: str) -> list[bytes]:
        """The requests of a kind, the oldest first."""
        return [data for (data,) in await self._ask(_REQUESTS, kind)]

    async def opened_before(self, number: int) -> int:
        """The number of the last exchange before another that tells that a process has begun."""
        [(opened,)] = await self._ask(_OPENED, number)
        return int(opened)

    async def refused(self) -> str | None:
        """The error of the first exchange that the budget could not pay for."""
        return next((error for (error,) in await self._ask(_REFUSED)), None)

    async def charges(self) -> Iterable[tuple[str, float]]:
        """What each answer and each exchange has used, and when."""
        rows = await self._claim.database.ask(_CHARGES, (self._session, self._session))
        return [(used, elapsed) for used, elapsed in rows]

    async def body(self, name: str) -> bytes | None:
        """The packed body under a hash."""
        return next((data for (data,) in await self._ask(_BODY, name)), None)

    async def has_body(self, name: str) -> bool:
        """Whether there is a body under a hash."""
        return bool(await self._ask(_HAS_BODY, name))

    async def put_body(self, name: str, packed: bytes) -> None:
        """Put a body, where it is not there yet."""
        await self._claim.write(_PUT_BODY, name, packed)

    async def size(self) -> float:
        """The bytes of all bodies."""
        [(size,)] = await self._ask(_SIZE)
        return float(size)

    async def close(self) -> None:
        """Nothing is held: each statement stands for itself."""

    async def abandon(self) -> None:
        """Nothing is held."""

    async def _ask(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return await self._claim.database.ask(statement, (self._session, *values))

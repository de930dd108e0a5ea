"""The rows of a journal in the database, written under the claim to their session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from spadework.tools.stores.journal_rows import AnswerRow, ExchangeRow, JournalRows

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.session_claim import SessionClaim

#: What is asked of the tables is asked of the session's rows in them.
_TABLES = ("journal", "exchanges", "bodies")
_OWN = ", ".join(f"{name} AS (SELECT * FROM {name} WHERE session = %s)" for name in _TABLES)
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


class PostgresRows(JournalRows):
    """The rows of the session that is claimed. Raises DatabaseDown, ClaimLost."""

    def __init__(self, claim: SessionClaim) -> None:
        self._claim = claim

    async def ask(self, statement: str, *values: Any) -> list[Any]:
        """See `JournalRows`."""
        own = [self._claim.session_id] * len(_TABLES)
        asked = f"WITH {_OWN} {statement.replace('?', '%s')}"
        return await self._claim.database.ask(asked, (*own, *values))

    async def put_answer(self, row: AnswerRow) -> None:
        """See `JournalRows`."""
        subject = row.subject.encode(errors="replace").decode()  # for people; it may be cut
        await self._claim.write(_PUT_ANSWER, *row._replace(subject=subject))

    async def put_exchange(self, row: ExchangeRow) -> None:
        """See `JournalRows`; it is one also where the statement is sent twice."""
        self._claim.exchanged += 1
        await self._claim.write(_PUT_EXCHANGE, self._claim.exchanged, *row)

    async def put_body(self, name: str, packed: bytes) -> None:
        """See `JournalRows`."""
        await self._claim.write(_PUT_BODY, name, packed)

    async def close(self) -> None:
        """Nothing is held: each statement stands for itself."""

    async def abandon(self) -> None:
        """Nothing is held."""

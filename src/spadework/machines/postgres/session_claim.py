"""A worker's claim to a session: a number in the session's row, incremented by each taker. Every
write checks it in the same statement, so that a slow worker can write no more.
"""

from __future__ import annotations

from typing import Any

from spadework.machines.postgres.database import Database
from spadework.tools.stores.disk_faults import ClaimLost
from spadework.tools.stores.exchanges import pack_bytes
from spadework.tools.stores.journal_rows import AnswerRow, ExchangeRow, JournalRows

#: The row is locked for the statement: a takeover waits for that.
_FENCED = (
    "WITH mine AS (SELECT id FROM sessions WHERE id = %s AND run = %s FOR SHARE),"
    " done AS ({}) SELECT count(*) FROM mine"
)
_PUT_EVENTS = (
    "INSERT INTO events (session, number, line)"
    " SELECT id, unnest(%s::integer[]), unnest(%s::text[]) FROM mine ON CONFLICT DO NOTHING"
)
_PUT_FILE = (
    "INSERT INTO files (session, name, packed) SELECT id, %s, %s FROM mine"
    " ON CONFLICT (session, name) DO UPDATE SET packed = excluded.packed"
)
_END = (
    "UPDATE sessions SET state = %s, metadata = %s, changed_at = now()"
    " WHERE id IN (SELECT id FROM mine)"
)
#: Queries are limited to the session's rows.
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


class SessionClaim:
    """The claim with this number. `told` is the number of events, `exchanged` that of the last
    exchange: only we write, so we count. `lost` is set once another worker has the session.
    """

    def __init__(
        self, database: Database, session_id: str, run: int, told: int, exchanged: int
    ) -> None:
        self.database = database
        self.session_id = session_id
        self.run = run
        self.told = told
        self.exchanged = exchanged
        self.lost = False

    async def write(self, statement: str, *values: Any) -> None:
        """Run a statement that selects from `mine` under the claim. Raises ClaimLost,
        DatabaseDown.
        """
        if not self.lost:
            [(held,)] = await self.database.ask(
                _FENCED.format(statement), (self.session_id, self.run, *values)
            )
            self.lost = not held
        if self.lost:
            raise ClaimLost(self.session_id)

    def journal_rows(self) -> PostgresRows:
        """Return the rows of its journal."""
        return PostgresRows(self)

    async def tell(self, lines: bytes) -> None:
        """Store lines of the record. Watchers are notified."""
        told = [line.decode() for line in lines.split(b"\n") if line]
        numbers = [*range(self.told + 1, self.told + 1 + len(told))]
        await self.write(_PUT_EVENTS, numbers, told)
        self.told += len(told)

    async def keep_file(self, name: str, data: bytes) -> None:
        """Store a file of the folder."""
        await self.write(_PUT_FILE, name, pack_bytes(data))

    async def end(self, state: str, metadata: str) -> None:
        """Record how the session ended."""
        await self.write(_END, state, metadata)


class PostgresRows(JournalRows):
    """The rows of the claimed session. Raises DatabaseDown, ClaimLost."""

    def __init__(self, claim: SessionClaim) -> None:
        self._claim = claim

    async def ask(self, statement: str, *values: Any) -> list[Any]:
        """Query the rows; see `JournalRows`."""
        own = [self._claim.session_id] * len(_TABLES)
        asked = f"WITH {_OWN} {statement.replace('?', '%s')}"
        return await self._claim.database.ask(asked, (*own, *values))

    async def put_answer(self, row: AnswerRow) -> None:
        """Store an answer; see `JournalRows`."""
        subject = row.subject.encode(errors="replace").decode()  # informational; it may be cut
        await self._claim.write(_PUT_ANSWER, *row._replace(subject=subject))

    async def put_exchange(self, row: ExchangeRow) -> None:
        """Store an exchange; see `JournalRows`. Sending the statement twice stores it once."""
        self._claim.exchanged += 1
        await self._claim.write(_PUT_EXCHANGE, self._claim.exchanged, *row)

    async def put_body(self, name: str, packed: bytes) -> None:
        """Store a body; see `JournalRows`."""
        await self._claim.write(_PUT_BODY, name, packed)

    async def close(self) -> None:
        """Do nothing: statements are independent."""

    async def abandon(self) -> None:
        """Do nothing."""

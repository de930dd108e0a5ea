"""A worker's claim to a session. Its number is in the session's row and counted up whenever a
worker takes the session; every write looks whether it is still the same, in one statement, so that
a worker that was only slow can write nothing more.
"""

from __future__ import annotations

from typing import Any

import zstandard

from spadework.tools.stores.database_faults import ClaimLost
from spadework.tools.stores.exchanges import pack_bytes
from spadework.tools.stores.postgres.database import Database
from spadework.tools.stores.postgres.journal_rows import PostgresRows

#: The row is locked until the statement is done: to take the session waits for that.
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


class SessionClaim:
    """The claim with this number. `told` is how many events there are, `exchanged` the number of
    the last exchange: only we write, so we count. `lost` is set once somebody else has the session.
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
        """Do what selects from `mine`, where the claim still holds. Raises ClaimLost,
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
        """The rows of its journal."""
        return PostgresRows(self)

    async def tell(self, lines: bytes) -> None:
        """Keep lines of the record. Who watches is told of them."""
        told = [line.decode() for line in lines.split(b"\n") if line]
        numbers = [*range(self.told + 1, self.told + 1 + len(told))]
        await self.write(_PUT_EVENTS, numbers, told)
        self.told += len(told)

    async def keep_file(self, name: str, data: bytes) -> None:
        """Keep a file of the folder."""
        await self.write(_PUT_FILE, name, pack_bytes(data))

    async def end(self, state: str, metadata: str) -> None:
        """Say how the session has ended."""
        await self.write(_END, state, metadata)


def unpack(packed: bytes) -> bytes:
    """What was packed."""
    return zstandard.decompress(packed)

"""Save LangGraph's checkpoints in the database, under the session's claim."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
from psycopg import AsyncCursor
from psycopg.rows import DictRow, dict_row

from spadework.machines.postgres.session_rows import SessionClaim
from spadework.tools.stores.disk_faults import ClaimLost

_HELD = "SELECT 1 FROM sessions WHERE id = %s AND run = %s FOR SHARE"


class CheckpointSaver(AsyncPostgresSaver):
    """Saves each step atomically, while the claim is held. Raises DatabaseDown or ClaimLost."""

    def __init__(self, claim: SessionClaim, serde: Any) -> None:
        super().__init__(claim.database.pool, serde=serde)  # type: ignore[arg-type]
        self._claim = claim

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the last checkpoint, or the one in `config`."""
        return await self._claim.database.retry(partial(super().aget_tuple, config))

    async def aput(self, *args: Any, **named: Any) -> RunnableConfig:
        """Save a checkpoint."""
        return await self._claim.database.retry(partial(super().aput, *args, **named))

    async def aput_writes(self, *args: Any, **named: Any) -> None:
        """Save a node's output."""
        await self._claim.database.retry(partial(super().aput_writes, *args, **named))

    @asynccontextmanager
    async def _cursor(self, *, pipeline: bool = False) -> AsyncIterator[AsyncCursor[DictRow]]:
        """Open a cursor in a transaction. Writers set `pipeline`, which checks the claim."""
        async with (
            self._claim.database.pool.connection() as connection,
            connection.transaction(),
            connection.cursor(row_factory=dict_row) as cursor,
        ):
            if pipeline:
                await self._check(cursor)
            yield cursor

    async def _check(self, cursor: AsyncCursor[DictRow]) -> None:
        claim = self._claim
        await cursor.execute(_HELD, (claim.session_id, claim.run))
        if await cursor.fetchone() is None:
            claim.lost = True
            raise ClaimLost(claim.session_id)

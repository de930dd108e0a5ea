"""Database queries for shared limits, which must not delay a run: after a few seconds without an
answer the process's own limits count, until it responds again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from psycopg import Error

from spadework.tools.stores.disk_faults import why

#: Seconds for the database to respond.
ASK_SECONDS = 3.0
_log = logging.getLogger(__name__)
Rows = list[tuple[Any, ...]]


class AskingSoon:
    """Queries with `once`. While `down`, only retries are sent."""

    def __init__(self, once: Callable[[str, Sequence[Any]], Awaitable[Rows]]) -> None:
        self._once = once
        self.down = False
        self._tasks: set[asyncio.Task[Rows]] = set()

    async def ask(
        self, statement: str, values: Sequence[Any], late: Callable[[], None] | None = None
    ) -> Rows | None:
        """Return the rows, None if they do not come in time: then `late` is called when it is
        over.
        """
        return None if self.down else await self.try_again(statement, values, late)

    async def try_again(
        self, statement: str, values: Sequence[Any], late: Callable[[], None] | None = None
    ) -> Rows | None:
        """Return the rows even while the database is down; a response ends that."""
        task = asyncio.ensure_future(self._once(statement, values))
        self._tasks.add(task)
        task.add_done_callback(self._over)
        try:
            async with asyncio.timeout(ASK_SECONDS):
                rows = await asyncio.shield(task)
        except (Error, OSError) as error:
            if not self.down:
                _log.warning("Limits are those of this process alone: %s", why(error))
            self.down = True
            return None
        finally:
            if not task.done():
                task.cancel()
                if late:
                    task.add_done_callback(lambda _: late())
        self.down = False
        return rows

    async def close(self) -> None:
        """Cancel running queries."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=ASK_SECONDS)

    def _over(self, task: asyncio.Task[Rows]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # reported, or nobody waits for it any more

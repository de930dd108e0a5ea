"""Asking the database for what must not make a run late: limits that machines share. It has a few
seconds to answer; where it does not, those of the process alone count, until it answers again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from psycopg import Error

from spadework.tools.stores.disk_faults import why

#: So long the database has to answer.
ASK_SECONDS = 3.0
_log = logging.getLogger(__name__)
Rows = list[tuple[Any, ...]]


class AskingSoon:
    """Asks with `once`. While `down`, only who tries whether it is back asks."""

    def __init__(self, once: Callable[[str, Sequence[Any]], Awaitable[Rows]]) -> None:
        self._once = once
        self.down = False
        self._tasks: set[asyncio.Task[Rows]] = set()

    async def ask(
        self, statement: str, values: Sequence[Any], late: Callable[[], None] | None = None
    ) -> Rows | None:
        """The rows, None where they do not come in time: then `late` is called when it is over."""
        return None if self.down else await self.try_again(statement, values, late)

    async def try_again(
        self, statement: str, values: Sequence[Any], late: Callable[[], None] | None = None
    ) -> Rows | None:
        """The same, also while the database is down; it no longer is where this is answered."""
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
        """Strike what is still asked."""
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=ASK_SECONDS)

    def _over(self, task: asyncio.Task[Rows]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # it was told, or nobody waits for it any more

"""How many calls run at once at one endpoint: as many as the setting allows, fewer once the
endpoint has said that it is too much.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Gate:
    """Lets at most `limit` calls through. A 429 halves it, and one more is tried after as many
    answers in a row.
    """

    def __init__(self, most: int) -> None:
        self.limit = most
        self._most = most
        self._running = 0
        self._answers = 0
        self._lowered_at = self._closed_until = time.monotonic()
        self._left = asyncio.Event()

    @asynccontextmanager
    async def through(self) -> AsyncIterator[float]:
        """Room for one call, waited for; gives the moment it began, on the clock of
        `time.monotonic`.
        """
        while True:
            if (pause := self._closed_until - time.monotonic()) > 0:
                await asyncio.sleep(pause)
            elif self._running >= self.limit:
                await self._left.wait()
            else:
                break
        self._running += 1
        try:
            yield time.monotonic()
        finally:
            self._running -= 1
            self._wake()

    def answered(self) -> None:
        """A call was answered."""
        self._answers += 1
        if self._answers >= self.limit < self._most:
            self.limit, self._answers = self.limit + 1, 0
            self._wake()

    def limited(self, began: float, seconds: float) -> None:
        """A call that `began` then was told to come back in so many seconds; until then nobody goes
        through.

        Of the calls that were under way together only the first lowers the limit.
        """
        now = time.monotonic()
        self._closed_until = max(self._closed_until, now + seconds)
        self._answers = 0
        if began >= self._lowered_at:
            self.limit, self._lowered_at = max(1, self.limit // 2), now

    def _wake(self) -> None:
        # Those who wait now look again; who comes later waits anew.
        self._left.set()
        self._left.clear()

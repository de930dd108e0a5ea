"""What other processes tell of sessions and places (LISTEN and NOTIFY): a reason to look at once
instead of in a while. Nothing depends on it: who waits looks again by itself.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

from psycopg import AsyncConnection, Error, sql

#: What is told of, by the id of its session: to who watches it, and to who runs it.
EVENTS, SIGNALS = "spadework_events", "spadework_signals"
#: Who has a place now, by its ticket, and what is waited for, by its name.
PLACES = "spadework_places"
#: Seconds after which who waits looks by himself, and between two tries to listen again.
LOOK_SECONDS, AGAIN_SECONDS = 2.0, 1.0


class Listening:
    """One connection of a process that listens."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._task: asyncio.Task[None] | None = None
        self._waiting: defaultdict[tuple[str, str], list[asyncio.Event]] = defaultdict(list)
        self._told: dict[str, Callable[[str], None]] = {}

    def start(self) -> None:
        """Listen from now on."""
        self._task = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Listen no more."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def tell(self, channel: str, told: Callable[[str], None]) -> None:
        """Call `told` with all that is told on a channel."""
        self._told[channel] = told

    @contextmanager
    def heard(self, channel: str, session_id: str) -> Iterator[Callable[[], Awaitable[None]]]:
        """Returns when a session is told of since the last call, or after LOOK_SECONDS."""
        told, key = asyncio.Event(), (channel, session_id)

        async def changed() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await told.wait()
            told.clear()

        self._waiting[key].append(told)
        try:
            yield changed
        finally:
            self._waiting[key].remove(told)
            if not self._waiting[key]:
                del self._waiting[key]

    async def _listen(self) -> None:
        while True:
            with suppress(Error, OSError):  # those who wait look by themselves meanwhile
                async with await AsyncConnection.connect(
                    self._conninfo, autocommit=True
                ) as connection:
                    for name in (EVENTS, SIGNALS, PLACES):
                        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(name)))
                    async for told in connection.notifies():
                        if every := self._told.get(told.channel):
                            every(told.payload)
                        for waiting in self._waiting.get((told.channel, told.payload), ()):
                            waiting.set()
            await asyncio.sleep(AGAIN_SECONDS)

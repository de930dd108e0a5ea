"""Notifications from other processes about sessions and places (LISTEN and NOTIFY): a reason to
look sooner. Nothing depends on them: waiters also poll.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

from psycopg import AsyncConnection, Error, sql

#: Channels by session id: for its watchers, and for its runner.
EVENTS, SIGNALS = "spadework_events", "spadework_signals"
#: Channel of places: tickets called in, and names of awaited rooms.
PLACES = "spadework_places"
#: Seconds between polls, and between attempts to listen again.
LOOK_SECONDS, AGAIN_SECONDS = 2.0, 1.0


class Listening:
    """The listening connection of a process."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._task: asyncio.Task[None] | None = None
        self._waiting: defaultdict[tuple[str, str], list[asyncio.Event]] = defaultdict(list)
        self._told: dict[str, Callable[[str], None]] = {}

    def start(self) -> None:
        """Start listening."""
        self._task = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Stop listening."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def tell(self, channel: str, told: Callable[[str], None]) -> None:
        """Call `told` for every notification on a channel."""
        self._told[channel] = told

    @contextmanager
    def heard(self, channel: str, session_id: str) -> Iterator[Callable[[], Awaitable[None]]]:
        """Yield a function that returns after a notification about the session since its last call,
        or after LOOK_SECONDS.
        """
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
            with suppress(Error, OSError):  # waiters poll meanwhile
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

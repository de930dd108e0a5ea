"""Receive notifications (LISTEN and NOTIFY) about sessions and slots. Nothing depends on them,
since waiters also poll.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress

from psycopg import AsyncConnection, Error, sql

#: Channels for a session's watchers and its runner, by session id.
EVENTS, SIGNALS = "spadework_events", "spadework_signals"
#: Channel for granted tickets, and for resources where someone waits.
PLACES = "spadework_places"
#: Seconds between polls, and before listening again.
LOOK_SECONDS, AGAIN_SECONDS = 2.0, 1.0


class Listening:
    """A process's listening connection."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._task: asyncio.Task[None] | None = None
        self._waiting: defaultdict[tuple[str, str], list[asyncio.Event]] = defaultdict(list)
        self._receivers: dict[str, Callable[[str], None]] = {}

    def start(self) -> None:
        """Start listening."""
        self._task = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Stop listening."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def tell(self, channel: str, receive: Callable[[str], None]) -> None:
        """Call `receive` with every notification on a channel."""
        self._receivers[channel] = receive

    @contextmanager
    def heard(self, channel: str, session_id: str) -> Iterator[Callable[[], Awaitable[None]]]:
        """Yield a function that waits up to LOOK_SECONDS for a notification about the session, or
        returns at once if there was one since its last call.
        """
        notified, key = asyncio.Event(), (channel, session_id)

        async def changed() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await notified.wait()
            notified.clear()

        self._waiting[key].append(notified)
        try:
            yield changed
        finally:
            self._waiting[key].remove(notified)
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
                    async for note in connection.notifies():
                        if every := self._receivers.get(note.channel):
                            every(note.payload)
                        for waiting in self._waiting.get((note.channel, note.payload), ()):
                            waiting.set()
            await asyncio.sleep(AGAIN_SECONDS)

"""How many calls run at once at one endpoint, those of all sessions of the process together, and of
all machines where they share a database: as many as the setting allows, fewer once the endpoint has
said that it is too much.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from spadework.tools.stores.shared_rooms import shared_place
from spadework.tools.web.slots import Room


class Gate:
    """Lets at most `limit` calls through. A 429 halves it; as many answers in a row add one."""

    def __init__(self, address: str) -> None:
        self._address = address
        #: Infinite before the endpoint has said that anything is too much.
        self.limit = float("inf")
        self._lock = threading.Lock()
        self._room = Room()
        self._answers = 0
        self._lowered_at = self._closed_until = time.monotonic()

    @asynccontextmanager
    async def through(self, party: Hashable, most: int) -> AsyncIterator[float]:
        """Room for one call of a party, waited for as long as `most` are under way; gives the
        moment it began, on the clock of `time.monotonic`.
        """

        def allowed() -> int:
            closed = time.monotonic() < self._closed_until
            return 0 if closed else int(min(most, self.limit))

        async with shared_place(self._address, allowed) as visit, self._room.place(party, allowed):
            try:
                yield time.monotonic()
            finally:
                visit.shut = max(0.0, self._closed_until - time.monotonic())

    def answered(self, most: int) -> None:
        """A call was answered, of one who may make so many."""
        with self._lock:
            self._answers += 1
            if more := self._answers >= self.limit < most:
                self.limit, self._answers = self.limit + 1, 0
        if more:
            self._room.look_again()

    def limited(self, began: float, seconds: float, most: int) -> None:
        """A call that `began` then was told to come back in so many seconds; until then nobody goes
        through. Of calls under way together only the first lowers the limit.
        """
        with self._lock:
            now = time.monotonic()
            self._closed_until = max(self._closed_until, now + seconds)
            opens = self._closed_until - now
            self._answers = 0
            if began >= self._lowered_at:
                self.limit, self._lowered_at = max(1, min(most, self.limit) // 2), now
        # A thread, since the event loop of this call may end before those of others who wait. It
        # may strike a moment early.
        timer = threading.Timer(opens + 0.001, self._room.look_again)
        timer.daemon = True
        timer.start()


#: The gates of this process, by the addresses of their endpoints.
GATES: dict[str, Gate] = {}

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=GATES.clear)  # who was inside is not copied


def gate_at(address: str) -> Gate:
    """The gate of an endpoint, for all of the process."""
    return GATES.setdefault(address, Gate(address))

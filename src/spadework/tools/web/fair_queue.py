"""Share limited resources, such as hosts, fairly within a process. With a common database, also
share them among machines.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(eq=False)
class Waiter:
    """A caller in an event loop, waiting for a slot. `called` resolves when the slot is granted."""

    loop: asyncio.AbstractEventLoop = field(init=False)
    called: asyncio.Future[None] = field(init=False)

    def __post_init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.called = self.loop.create_future()

    def call(self) -> bool:
        """End the wait, from any thread. Returns False if the loop is closed."""
        try:
            self.loop.call_soon_threadsafe(self._tell)
        except RuntimeError:
            return False
        return True

    def _tell(self) -> None:
        if not self.called.done():
            self.called.set_result(None)


@dataclass(eq=False)
class _Waiter(Waiter):
    party: Hashable
    most: Callable[[], int]


class Room:
    """A fair queue for a resource. Free slots go to the party (such as a run) with the fewest."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside: Counter[Hashable] = Counter()
        self._waiting: list[_Waiter] = []
        #: The sequence number of the last slot given to each party that holds or awaits a slot.
        self._called: dict[Hashable, int] = {}
        self._calls = 0

    @property
    def empty(self) -> bool:
        """Whether nobody holds or awaits a slot."""
        return not (self._inside or self._waiting)

    @asynccontextmanager
    async def place(self, party: Hashable, most: Callable[[], int]) -> AsyncIterator[None]:
        """Wait for one of `most()` slots, and hold it for a party within the context. `most` must
        be thread-safe. Call `look_again` when the number of slots changes.
        """
        waiter = _Waiter(party, most)
        with self._lock:
            self._waiting.append(waiter)
            self.look_again()
        try:
            await waiter.called
            yield
        finally:
            with self._lock:
                self._leave(waiter)

    def look_again(self) -> None:
        """Give free slots to waiters."""
        with self._lock:
            while self._waiting:
                first = min(self._waiting, key=self._favour)
                if self._inside.total() >= first.most():
                    break  # otherwise, a later waiter with a higher limit would starve this one
                self._waiting.remove(first)
                if first.call():
                    self._inside[first.party] += 1
                    self._calls += 1
                    self._called[first.party] = self._calls

    def _leave(self, waiter: _Waiter) -> None:
        party = waiter.party
        if waiter in self._waiting:
            self._waiting.remove(waiter)
        else:
            self._inside[party] -= 1
            self._inside += Counter()  # drops parties that hold no slot
            self.look_again()
        if party not in self._inside and all(one.party != party for one in self._waiting):
            self._called.pop(party, None)

    def _favour(self, waiter: _Waiter) -> tuple[int, int]:
        return self._inside[waiter.party], self._called.get(waiter.party, 0)


class Rooms:
    """The queues of all resources in use, keyed by resource name."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rooms: dict[str, tuple[Room, int]] = {}

    @property
    def visited(self) -> frozenset[str]:
        """The names of the resources in use."""
        with self._lock:
            return frozenset(self._rooms)

    @asynccontextmanager
    async def place(self, what: str, party: Hashable, most: int) -> AsyncIterator[None]:
        """Hold one of the `most` slots of the resource `what` for a party."""
        with self._lock:
            room, visitors = self._rooms.get(what) or (Room(), 0)
            self._rooms[what] = room, visitors + 1
        try:
            async with room.place(party, lambda: most):
                yield
        finally:
            with self._lock:
                room, visitors = self._rooms.pop(what)
                if visitors > 1:
                    self._rooms[what] = room, visitors - 1


ROOMS = Rooms()


def _after_fork() -> None:
    global ROOMS  # the holders of slots do not survive a fork
    ROOMS = Rooms()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@asynccontextmanager
async def place(what: str, party: Hashable, most: int) -> AsyncIterator[None]:
    """Hold a slot within this process, as `Rooms.place` does."""
    async with ROOMS.place(what, party, most):
        yield


@asynccontextmanager
async def far_place(what: str, party: Hashable, most: int) -> AsyncIterator[None]:
    """Hold a slot shared by all machines and, once it is granted, a slot of this process."""
    async with shared_place(what, lambda: most), place(what, party, most):
        yield


class Opening(NamedTuple):
    """Seconds until the next slot opens, and until a pause of all machines ends."""

    opens: float
    shut: float


@dataclass
class Visit:
    """A slot for one request. After it, all machines wait `shut` seconds before the next."""

    shut: float = 0.0


#: A function that raises an error if waiting for a slot is pointless.
Check = Callable[[Opening], None]


def wait_on(opening: Opening) -> None:
    """Accept any waiting time."""


#: A function like `shared_place` that provides the current session's slots.
Place = Callable[[str, Callable[[], int], float, Check], AbstractAsyncContextManager[Visit]]
SHARED: ContextVar[Place | None] = ContextVar("shared_rooms", default=None)


@asynccontextmanager
async def shared_place(
    what: str, most: Callable[[], int], every: float = 0.0, check: Check = wait_on
) -> AsyncIterator[Visit]:
    """Hold one of `most()` slots for the resource `what`, shared by all machines. Slots are granted
    at least `every` seconds apart. Without a common database, do not wait.
    """
    shared = SHARED.get()
    if shared is None:
        yield Visit()
        return
    async with shared(what, most, every, check) as visit:
        yield visit

"""Places at what is scarce, such as a host, shared by all sessions of the process in any thread:
ten are as polite as one, and fair to each other. With a database other machines share them.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from spadework.tools.stores.shared_rooms import shared_place
from spadework.tools.web.waiters import Waiter


@dataclass(eq=False)
class _Waiter(Waiter):
    party: Hashable
    most: Callable[[], int]


class Room:
    """So many at once. When one leaves, the next is of the party that has the fewest inside, of
    several such the one that has not been called in for longest, and of its own who came first.
    """

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._inside: Counter[Hashable] = Counter()
        self._waiting: list[_Waiter] = []
        #: The number of the last call of each party that is here.
        self._called: dict[Hashable, int] = {}
        self._calls = 0

    @property
    def empty(self) -> bool:
        """Is nobody inside or waiting?"""
        return not (self._inside or self._waiting)

    @asynccontextmanager
    async def place(self, party: Hashable, most: Callable[[], int]) -> AsyncIterator[None]:
        """A place, waited for as long as there are `most` inside, who may be of any party. Where
        `most` changes, `look_again` is to be called; it may be asked in any thread.
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
        """Call in those for whom there is room."""
        with self._lock:
            while self._waiting:
                first = min(self._waiting, key=self._favour)
                if self._inside.total() >= first.most():
                    break  # also for those who may be more: they would keep it out for ever
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
            self._inside += Counter()  # those with nobody inside are forgotten
            self.look_again()
        if party not in self._inside and all(one.party != party for one in self._waiting):
            self._called.pop(party, None)

    def _favour(self, waiter: _Waiter) -> tuple[int, int]:
        return self._inside[waiter.party], self._called.get(waiter.party, 0)


class Rooms:
    """The rooms of all that is scarce, by name, as long as somebody is there."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rooms: dict[str, tuple[Room, int]] = {}

    @property
    def visited(self) -> frozenset[str]:
        """At what there is somebody now."""
        with self._lock:
            return frozenset(self._rooms)

    @asynccontextmanager
    async def place(self, what: str, party: Hashable, most: int) -> AsyncIterator[None]:
        """A place at `what`, where at most so many may be at once, of whatever sessions."""
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


#: Those of this process.
ROOMS = Rooms()


def _after_fork() -> None:
    global ROOMS  # who was inside is not copied
    ROOMS = Rooms()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@asynccontextmanager
async def place(what: str, party: Hashable, most: int) -> AsyncIterator[None]:
    """A place at something of this machine; see `Rooms.place`."""
    async with ROOMS.place(what, party, most):
        yield


@asynccontextmanager
async def far_place(what: str, party: Hashable, most: int) -> AsyncIterator[None]:
    """A place at something that other machines ask, too: first among theirs, then here."""
    async with shared_place(what, lambda: most), place(what, party, most):
        yield

"""Letting sessions into the process: as many at once as one wants and as have room, the others wait
in one queue: the user with fewest inside comes first, of several the one who was let in longest
ago. What is one user's is let in first come, first served.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import NamedTuple

from spadework.sessions import capacity

#: How often those who wait look whether there is room: what is open belongs to others, too.
LOOK_SECONDS = 1.0

#: Is told a place in the queue, from 1, and how many wait.
Told = Callable[[int, int], None]


class Whose(NamedTuple):
    """The user whose a session is, and how many of theirs may be inside at once (0: any number)."""

    user: str = ""
    most: int = 0


NOBODYS = Whose()


@dataclass(eq=False)
class _Waiter:
    most: int
    whose: Whose
    loop: asyncio.AbstractEventLoop
    moved: asyncio.Event


class Admission:
    """The queue before a process, its threads and loops. `fits`: is there room beside so many?"""

    def __init__(self, fits: Callable[[int], bool] = capacity.fits) -> None:
        self._fits = fits
        self._lock = threading.Lock()
        self._waiting: list[_Waiter] = []
        self._line: list[_Waiter] | None = None  # the order, until something changes
        self._inside: Counter[str] = Counter()
        self._let = Counter[str]()  # when each user was let in last, counted in visits
        #: How many have stepped out.
        self.out = 0
        #: Whether nobody is let in any more.
        self.closed = False

    @property
    def inside(self) -> int:
        """How many are inside."""
        return self._inside.total()

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._waiting)

    def close(self) -> None:
        """Let nobody in any more: who is inside stays until done, who waits goes on waiting."""
        self.closed = True

    def inside_of(self, user: str) -> int:
        """How many of a user are inside."""
        return self._inside[user]

    @asynccontextmanager
    async def place(
        self, most: int, stop: asyncio.Event, told: Told, whose: Whose = NOBODYS
    ) -> AsyncIterator[None]:
        """A place inside, waited for as long as `most` are there or one more does not fit, or its
        user has as many inside as may be.

        Who shall `stop` waits no longer: it has nothing left to do but to end.
        """
        waiter = _Waiter(most, whose, asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.append(waiter)
            self._line = None
        try:
            await self._called(waiter, stop, told)
        except BaseException:
            with self._lock:
                self._waiting.remove(waiter)
                self._wake()
            raise
        try:
            yield
        finally:
            with self._lock:
                self._leave(whose.user)
                idle = not self.inside
                self._wake()
            if idle:  # nobody waits for it now
                capacity.give_back()

    @contextmanager
    def stepped_out(self, user: str = "") -> Iterator[None]:
        """Leave the place to others while a user thinks; who comes back goes in at once."""
        with self._lock:
            self._leave(user)
            self.out += 1
            self._wake()
        try:
            yield
        finally:
            with self._lock:
                self._inside[user] += 1
                self.out -= 1

    async def _called(self, waiter: _Waiter, stop: asyncio.Event, told: Told) -> None:
        """Return with a place inside, and out of the queue."""
        place = 0
        while not self._let_in(waiter, at_once=stop.is_set()):
            with self._lock:
                now, of = self._order().index(waiter) + 1, len(self._waiting)
            if now != place:
                told(now, of)
            place = now
            await _first_of(waiter.moved, stop, seconds=LOOK_SECONDS)

    def _let_in(self, waiter: _Waiter, *, at_once: bool) -> bool:
        waiter.moved.clear()
        with self._lock:
            if any(w.loop.is_closed() for w in self._waiting):
                self._waiting = [w for w in self._waiting if not w.loop.is_closed()]
                self._line = None
            if not at_once and not self._may_enter(waiter):
                return False
            self._waiting.remove(waiter)
            self._inside[waiter.whose.user] += 1
            self._let[waiter.whose.user] = max(self._let.values(), default=0) + 1
            self._wake()
            return True

    def _may_enter(self, waiter: _Waiter) -> bool:
        user, most = waiter.whose
        if self.closed or (most and self._inside[user] >= most):
            return False
        its_turn = self._order()[0] is waiter
        return its_turn and self.inside < waiter.most and self._fits(self.inside)

    def _order(self) -> list[_Waiter]:
        """Those who wait, in the order they come in; who has as many inside as may be is last."""
        if self._line is None:
            ahead, keys = Counter(self._inside), {}
            for n, waiter in enumerate(self._waiting):
                user, most = waiter.whose
                full = bool(most and ahead[user] >= most)
                keys[waiter] = (full, ahead[user], self._let[user], n)
                ahead[user] += 1
            self._line = sorted(self._waiting, key=lambda waiter: keys[waiter])
        return self._line

    def _leave(self, user: str) -> None:
        self._inside[user] -= 1
        if not self._inside[user]:
            del self._inside[user]

    def _wake(self) -> None:
        """Let all who wait look again: their places have changed."""
        self._line = None
        for waiter in self._waiting:
            try:
                waiter.loop.call_soon_threadsafe(waiter.moved.set)
            except RuntimeError:  # its event loop is closed
                continue


async def _first_of(*events: asyncio.Event, seconds: float) -> None:
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.gather(*waits, return_exceptions=True)


#: The queue before this process.
_admission = Admission()


def _after_fork() -> None:
    global _admission  # who was inside is not copied
    _admission = Admission()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def here() -> Admission:
    """The queue before this process."""
    return _admission

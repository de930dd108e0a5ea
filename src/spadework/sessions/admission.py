"""Letting sessions into the process: as many at once as one wants and as have room, the others wait
in one queue, first come, first served.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass

from spadework.sessions import capacity

#: How often those who wait look whether there is room: what is open belongs to others, too.
LOOK_SECONDS = 1.0

#: Is told a place in the queue, from 1, and how many wait.
Told = Callable[[int, int], None]


@dataclass(eq=False)
class _Waiter:
    most: int
    loop: asyncio.AbstractEventLoop
    moved: asyncio.Event


class Admission:
    """The queue before a process, for all its threads and event loops. `fits` says whether there is
    room for one more beside so many.
    """

    def __init__(self, fits: Callable[[int], bool] = capacity.fits) -> None:
        self._fits = fits
        self._lock = threading.Lock()
        self._waiting: list[_Waiter] = []
        self.inside = 0

    @asynccontextmanager
    async def place(self, most: int, stop: asyncio.Event, told: Told) -> AsyncIterator[None]:
        """A place inside, waited for as long as `most` are there or one more does not fit.

        Who shall `stop` waits no longer: it has nothing left to do but to end.
        """
        waiter = _Waiter(most, asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.append(waiter)
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
                self.inside -= 1
                idle = not self.inside
                self._wake()
            if idle:  # nobody waits for it now
                capacity.give_back()

    @contextmanager
    def stepped_out(self) -> Iterator[None]:
        """Leave the place to others while a user is thinking; whoever comes back goes in at once,
        since all that it holds has stayed open.
        """
        with self._lock:
            self.inside -= 1
            self._wake()
        try:
            yield
        finally:
            with self._lock:
                self.inside += 1

    async def _called(self, waiter: _Waiter, stop: asyncio.Event, told: Told) -> None:
        """Return with a place inside, and out of the queue."""
        place = 0
        while not self._let_in(waiter, at_once=stop.is_set()):
            with self._lock:
                now, of = self._waiting.index(waiter) + 1, len(self._waiting)
            if now != place:
                told(now, of)
            place = now
            await _first_of(waiter.moved, stop, seconds=LOOK_SECONDS)

    def _let_in(self, waiter: _Waiter, *, at_once: bool) -> bool:
        waiter.moved.clear()
        with self._lock:
            self._waiting = [w for w in self._waiting if not w.loop.is_closed()]
            its_turn = self._waiting[0] is waiter
            if not at_once and not (
                its_turn and self.inside < waiter.most and self._fits(self.inside)
            ):
                return False
            self._waiting.remove(waiter)
            self.inside += 1
            self._wake()
            return True

    def _wake(self) -> None:
        """Let all who wait look again: their places have changed."""
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


@asynccontextmanager
async def place(most: int, stop: asyncio.Event, told: Told) -> AsyncIterator[None]:
    """See `Admission.place`."""
    async with _admission.place(most, stop, told):
        yield


def stepped_out() -> AbstractContextManager[None]:
    """See `Admission.stepped_out`."""
    return _admission.stepped_out()

"""Admission control: limits how many sessions run at once in this process. The others wait in one
queue, ordered by how many sessions their user runs, then by when that user was last admitted.
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

#: Seconds between checks for room, which also depends on other processes.
LOOK_SECONDS = 1.0

#: Receives the position in the queue, from 1, and the length of the queue.
Told = Callable[[int, int], None]


class Whose(NamedTuple):
    """The user of a session, and how many of theirs may run at once (0: any number)."""

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
    """The admission queue of this process. `fits(n)` says whether another session fits beside `n`
    running ones.
    """

    def __init__(self, fits: Callable[[int], bool] = capacity.fits) -> None:
        self._fits = fits
        self._lock = threading.Lock()
        self._waiting: list[_Waiter] = []
        self._line: list[_Waiter] | None = None  # the order of admission; None after a change
        self._inside: Counter[str] = Counter()
        self._let = Counter[str]()  # each user's last admission, by its number
        #: Number of sessions that wait for their user's answer.
        self.out = 0
        #: Whether admission has ended.
        self.closed = False

    @property
    def inside(self) -> int:
        """The number of sessions running."""
        return self._inside.total()

    @property
    def queue_length(self) -> int:
        """The number of sessions waiting."""
        return len(self._waiting)

    def close(self) -> None:
        """Admit no more sessions; running ones finish, waiting ones keep waiting."""
        self.closed = True

    def inside_of(self, user: str) -> int:
        """Return how many of a user's sessions are running."""
        return self._inside[user]

    @asynccontextmanager
    async def place(
        self, most: int, stop: asyncio.Event, told: Told, whose: Whose = NOBODYS
    ) -> AsyncIterator[None]:
        """Hold a place while the context is open. Waits while `most` sessions run, another does not
        fit, or the user's limit is reached, but no longer once `stop` is set. `told` receives each
        new position.
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
            if idle:  # nobody is kept waiting
                capacity.give_back()

    @contextmanager
    def stepped_out(self, user: str = "") -> Iterator[None]:
        """Free a user's place while they think; afterwards their session continues at once."""
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
        """Return the waiting sessions in order of admission; users at their limit come last."""
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


_admission = Admission()


def _after_fork() -> None:
    global _admission  # sessions do not survive a fork
    _admission = Admission()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def here() -> Admission:
    """Return the admission queue of this process."""
    return _admission

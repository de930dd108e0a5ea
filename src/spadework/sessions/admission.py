"""Limit how many sessions run at once in this process. Further sessions wait, and users with the
fewest running sessions come first.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

#: Seconds between capacity checks. Checks are repeated because other processes use capacity too.
LOOK_SECONDS = 1.0

#: A function that receives the queue position (from 1) and the queue length.
Told = Callable[[int, int], None]
DESCRIPTORS, THREADS = 40, 6
#: Descriptors and threads reserved for the rest of the process.
SPARE_DESCRIPTORS, SPARE_THREADS = 96, 48

_PIDS = Path("/sys/fs/cgroup/pids.max")


@dataclass
class Stock:
    """A system resource. Each session needs `each` units, and `spare` units stay free. `limit`
    returns the maximum (None: unknown or unlimited), and `used` returns the current usage.
    """

    each: int
    spare: int
    limit: Callable[[], int | None]
    used: Callable[[], int]
    _before: int = field(default=0, init=False)

    def empty(self) -> None:
        """Record the current usage. Call this while no session runs."""
        self._before = self.used()

    def fits(self, inside: int) -> bool:
        """Return whether another session fits if `inside` running ones use their full allowance."""
        limit = self.limit()
        expected = max(self.used(), self._before + inside * self.each)
        return limit is None or expected + self.each + self.spare <= limit


def open_files() -> int:
    """Return the number of open file descriptors (0 if unknown)."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(list(Path(folder).iterdir()))
    return 0


def most_files() -> int | None:
    """Return the maximum number of open file descriptors, or None if unlimited."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def most_threads() -> int | None:
    """Return the control group's thread limit, or None if unknown."""
    with suppress(OSError, ValueError):
        return int(_PIDS.read_text())
    return None


_STOCKS = (
    Stock(DESCRIPTORS, SPARE_DESCRIPTORS, most_files, open_files),
    Stock(THREADS, SPARE_THREADS, most_threads, threading.active_count),
)


def give_back() -> None:
    """Release unused memory. After fifty runs, glibc would retain a third of the process memory."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def fits(inside: int) -> bool:
    """Return whether another session fits beside `inside` running ones."""
    if not inside:
        for stock in _STOCKS:
            stock.empty()
        return True
    return all(stock.fits(inside) for stock in _STOCKS)


class Whose(NamedTuple):
    """A session's user, who may run at most `most` sessions at once (0: no limit)."""

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
    """The admission queue. `fits(n)` says whether a session fits beside `n` running ones."""

    def __init__(self, fits: Callable[[int], bool] = fits) -> None:
        self._fits = fits
        self._lock = threading.Lock()
        self._waiting: list[_Waiter] = []
        self._line: list[_Waiter] | None = None  # in admission order; None after a change
        self._inside: Counter[str] = Counter()
        self._let = Counter[str]()  # sequence number of each user's last admission
        #: Number of sessions that are waiting for their user's answer.
        self.out = 0
        self.closed = False

    @property
    def inside(self) -> int:
        """The number of running sessions."""
        return self._inside.total()

    @property
    def queue_length(self) -> int:
        """The number of waiting sessions."""
        return len(self._waiting)

    def close(self) -> None:
        """Admit no more sessions."""
        self.closed = True

    def inside_of(self, user: str) -> int:
        """Return how many sessions of a user are running."""
        return self._inside[user]

    @asynccontextmanager
    async def place(
        self, most: int, stop: asyncio.Event, told: Told, whose: Whose = NOBODYS
    ) -> AsyncIterator[None]:
        """Wait until a slot is free or `stop` is set, then hold a slot until the block ends. At
        most `most` sessions may run at once. `told` receives each new queue position.
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
            if idle:
                give_back()

    @contextmanager
    def stepped_out(self, user: str = "") -> Iterator[None]:
        """Free the slot while waiting for the user. The session then continues without queuing."""
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
            except RuntimeError:  # event loop is closed
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
    """Return this process's admission queue."""
    return _admission

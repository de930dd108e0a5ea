"""Read pages concurrently, and start a replacement for each page that fails or is slow."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from spadework.errors import BudgetSpent, FetchError, TooSlow

C = TypeVar("C")
R = TypeVar("R")
Why = Literal["deadline", "stopped", "not needed", "budget"]

#: Maximum seconds to wait for one page, across all fetch levels.
PAGE_SECONDS = 60.0


@dataclass(frozen=True)
class Limits:
    """The limits for reading candidates concurrently.
    - `wanted`: the number of results.
    - `parallel`, `per_group`: the maximum number of concurrent reads, in all and per group.
    - `slow_seconds`: the time after which a candidate gets a replacement.
    - `until`: the deadline in loop time.
    """

    wanted: int
    parallel: int
    per_group: int
    page_seconds: float
    slow_seconds: float
    until: float


@dataclass(frozen=True)
class Began(Generic[C]):
    """The candidate is being read."""

    candidate: C


@dataclass(frozen=True)
class Came(Generic[C, R]):
    """The candidate was read."""

    candidate: C
    result: R


@dataclass(frozen=True)
class Failed(Generic[C]):
    """The candidate could not be read."""

    candidate: C
    error: FetchError


@dataclass(frozen=True)
class Left(Generic[C]):
    """A candidate without a result. `why` gives the reason."""

    candidate: C
    why: Why


Outcome = Began[C] | Came[C, R] | Failed[C] | Left[C]


async def read_many(
    candidates: Sequence[C],
    read: Callable[[C, float], Awaitable[R]],
    limits: Limits,
    *,
    group: Callable[[C], str],
    key: Callable[[R], Hashable | None],
    stop: asyncio.Event,
) -> AsyncGenerator[Outcome[C, R], None]:
    """Read candidates concurrently, best first, and yield outcomes until enough have been read.

    - `read` takes a candidate and its time limit in seconds. After a FetchError, another candidate
      is read. After BudgetSpent, no more are started.
    - The `group` "" has no concurrency limit.
    - Results with the same `key` count once. Results whose key is None do not count.

    Close the iterator (`contextlib.aclosing`) to cancel everything.
    """
    pool = _Pool([*candidates], read, limits, group, key)
    stopping = asyncio.create_task(stop.wait())
    try:
        while not pool.over and not stopping.done():
            for candidate in pool.start():
                yield Began(candidate)
            if not pool.running:
                break
            for done in await pool.next_done(stopping):
                yield pool.outcome(done)
        late: Why = "deadline" if pool.is_late else "not needed"
        for candidate in pool.running.values():
            yield Left(candidate, "stopped" if stopping.done() else late)
    finally:
        tasks: list[asyncio.Task[Any]] = [*pool.running, stopping]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@dataclass
class _Pool(Generic[C, R]):
    _waiting: list[C]
    _read: Callable[[C, float], Awaitable[R]]
    _limits: Limits
    _group: Callable[[C], str]
    _key: Callable[[R], Hashable | None]
    running: dict[asyncio.Task[R], C] = field(default_factory=dict)
    _slow_at: dict[asyncio.Task[R], float] = field(default_factory=dict)
    _came: set[Hashable] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._clock = asyncio.get_running_loop().time

    @property
    def is_late(self) -> bool:
        return self._clock() >= self._limits.until

    @property
    def over(self) -> bool:
        return self._pages_missing <= 0 or self.is_late

    @property
    def _pages_missing(self) -> int:
        return self._limits.wanted - len(self._came)

    def start(self) -> Iterator[C]:
        """Start and yield candidates until one runs for each missing result, plus a replacement for
        each slow candidate. Never run more than two for each missing result.
        """
        now = self._clock()
        slow = sum(now >= moment for moment in self._slow_at.values())
        wanted = self._pages_missing + min(slow, self._pages_missing)
        while len(self.running) < min(self._limits.parallel, wanted):
            candidate = self._next(wanted - len(self.running), now)
            if candidate is None:
                return
            task = asyncio.create_task(self._within_time(candidate))
            self.running[task] = candidate
            self._slow_at[task] = now + self._limits.slow_seconds
            yield candidate

    def _next(self, places: int, now: float) -> C | None:
        """Remove and return the best waiting candidate whose group is below its limit, or return
        None. `places` is the number of free slots. Keep one slot for each better candidate whose
        group will probably be below its limit soon.
        """
        busy = Counter(self._group(candidate) for candidate in self.running.values())
        quick = {self._group(self.running[task]) for task, at in self._slow_at.items() if now < at}
        for place, candidate in enumerate(self._waiting):
            group = self._group(candidate)
            if not group or busy[group] < self._limits.per_group:
                return self._waiting.pop(place)
            places -= group in quick
            if places <= 0:
                return None
        return None

    async def _within_time(self, candidate: C) -> R:
        seconds = min(self._limits.page_seconds, self._limits.until - self._clock())
        try:
            async with asyncio.timeout(self._limits.page_seconds):
                return await self._read(candidate, seconds)
        except TimeoutError:
            late = f"not read within {self._limits.page_seconds:.3g} s"
            raise TooSlow(f"The page was {late}.") from None

    async def next_done(self, stopping: asyncio.Task[bool]) -> list[asyncio.Task[R]]:
        now, tasks = self._clock(), {*self.running, stopping}
        slow = [moment for moment in self._slow_at.values() if moment > now and self._waiting]
        seconds = min([self._limits.until, *slow]) - now
        await asyncio.wait(tasks, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return [task for task in self.running if task.done()]

    def outcome(self, done: asyncio.Task[R]) -> Came[C, R] | Failed[C] | Left[C]:
        candidate = self.running.pop(done)
        del self._slow_at[done]
        try:
            result = done.result()
        except FetchError as error:
            return Failed(candidate, error)
        except BudgetSpent:
            self._waiting.clear()
            return Left(candidate, "budget")
        key = self._key(result)
        if self._pages_missing <= 0 and key is not None and key not in self._came:
            return Left(candidate, "not needed")
        self._came |= {key} - {None}
        return Came(candidate, result)

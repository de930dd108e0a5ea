"""Limit the rate of searches per provider, and report the delays."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from spadework.errors import QuotaSpent, Throttled
from spadework.tools.web.fair_queue import Opening, Waiter, shared_place

#: Minimum wait that is reported, in seconds.
LEAST_SECONDS = 0.5


@dataclass
class Waited:
    """Counts of a provider's delayed and skipped queries, and the longest delay in seconds."""

    queries: int = 0
    longest: float = 0.0
    turned_away: int = 0


class Waits:
    """The delays of a run, by provider."""

    def __init__(self) -> None:
        self._by_name: dict[str, Waited] = {}
        self._said: set[str] = set()

    def add(self, name: str, seconds: float) -> None:
        """Record how long a query waited."""
        if seconds >= LEAST_SECONDS:
            waited = self._by_name.setdefault(name, Waited())
            waited.queries += 1
            waited.longest = max(waited.longest, seconds)

    def turn_away(self, name: str) -> None:
        """Record a query skipped because of the rate limit."""
        self._by_name.setdefault(name, Waited()).turned_away += 1

    def news(self) -> tuple[str, ...]:
        """Return sentences about the providers whose delays have not been reported yet."""
        fresh = [name for name in self._by_name if name not in self._said]
        self._said.update(fresh)
        return tuple(told for name in fresh for told in _sentences(name, self._by_name[name]))


def _sentences(name: str, waited: Waited) -> Iterator[str]:
    if waited.queries:
        seconds = f"{'' if waited.queries == 1 else 'up to '}{max(1, round(waited.longest))} s"
        yield f"{_queries(waited.queries)} to {name} waited {seconds} to respect its rate limit."
    if waited.turned_away:
        were = "was" if waited.turned_away == 1 else "were"
        yield f"{_queries(waited.turned_away)} to {name} {were} skipped because of its rate limit."


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"


#: Maximum number of seconds to pause if a provider demands a pause. It guards against a wrong
#: header.
MOST_PAUSE_SECONDS = 3_600.0
#: Initial and maximum number of seconds between two searches of a provider that reports being busy.
FIRST_SPACING, MOST_SPACING = 1.1, 8.8


@dataclass(frozen=True)
class Limit:
    """At most `at_once` concurrent searches, started at least `every` seconds apart."""

    every: float = 0.0
    at_once: int = 8

    @classmethod
    def per_second(cls, searches: float, at_once: int) -> Limit:
        """Return a limit of `searches` per second."""
        return cls(1 / searches, at_once)


#: Provider rate limits. A search is one request unless noted.
LIMITS: Mapping[str, Limit] = {
    # arXiv, API terms of use: one request every three seconds, a single connection.
    "arxiv": Limit(3.0, 1),
    # NCBI, E-utilities usage policy: three requests a second without a key; a search makes two.
    "pubmed": Limit.per_second(1.5, 2),
    # OpenAlex, "Rate limits and authentication": ten requests a second.
    "openalex": Limit.per_second(10, 5),
    # MediaWiki, API etiquette: no hard limit, but requests should be made in series.
    "wikipedia": Limit(0.0, 2),
    # Tavily, rate limits: 100 requests a minute with a development key.
    "tavily": Limit.per_second(100 / 60, 5),
    # Brave Search API, plans: 50 requests a second for Search.
    "brave": Limit.per_second(50, 10),
    # Serper does not publish its limits, so this is a cautious guess.
    "serper": Limit.per_second(5, 5),
    # DuckDuckGo documents no limit, but soon refuses fast clients.
    "duckduckgo": Limit.per_second(1, 2),
}
#: The limit for SearXNG, MCP and the caller's providers.
DEFAULT = Limit()
UNLIMITED = ("library",)


@dataclass(eq=False)
class _Waiter(Waiter):
    limit: Limit


class RateLimiter:
    """A queue of searches with one provider, shared by all threads and event loops."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._queue: deque[_Waiter] = deque()
        self._running = 0
        #: True while a search has left the queue but still waits for the rate limit.
        self._starting = False
        self._next = 0.0
        self._paused = 0.0
        self._paused_till = ""
        #: `_spacing` is the number of seconds between searches, which increases when a search is
        #: refused. `_slowed` is the time when `_spacing` last increased.
        self._spacing = self._slowed = 0.0

    def pause(self, seconds: float) -> None:
        """Suspend searches for `seconds`, as the provider demands."""
        with self._lock:
            seconds = min(seconds, MOST_PAUSE_SECONDS)
            if self._clock() + seconds > self._paused:
                self._paused = self._clock() + seconds
                self._paused_till = f"{datetime.now(UTC) + timedelta(seconds=seconds):%H:%M:%S} UTC"

    def slow_down(self, begun: float) -> None:
        """Increase the time between searches after a refusal of the search started at `begun`."""
        with self._lock:
            if begun >= self._slowed:  # concurrent refusals count once
                self._spacing = min(max(FIRST_SPACING, 2 * self._spacing), MOST_SPACING)
                self._slowed = self._clock()
                self._next = max(self._next, self._slowed + self._spacing)

    @contextmanager
    def respect_limits(self) -> Iterator[None]:
        """Apply the pause or slowdown that a QuotaSpent error demands."""
        begun = self._clock()
        try:
            yield
        except QuotaSpent as error:
            if error.retry_after is not None:
                self.pause(error.retry_after)
            if error.busy:
                self.slow_down(begun)
            raise

    @asynccontextmanager
    async def turn(self, limit: Limit, seconds: float, common: str = "") -> AsyncIterator[float]:
        """Wait for a turn and yield the seconds waited. `common` names a queue that several
        machines share. Raises Throttled if no turn is possible within `seconds`.
        """
        begun = self._clock()
        with self._lock:
            self._check(limit, begun + seconds, len(self._queue) + self._starting)
            waiter = self._line_up(limit)
        if waiter:
            await self._called(waiter, seconds)
        await self._until_allowed(limit, begun + seconds)
        try:
            async with AsyncExitStack() as inside:
                if common:
                    await self._beside_others(inside, limit, begun + seconds, common)
                yield self._clock() - begun
        finally:
            with self._lock:
                self._running -= 1
                self._call_next()

    def _line_up(self, limit: Limit) -> _Waiter | None:
        if not self._queue and not self._starting and self._running < limit.at_once:
            self._running += 1
            self._starting = True
            return None
        waiter = _Waiter(limit)
        self._queue.append(waiter)
        return waiter

    async def _called(self, waiter: _Waiter, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await waiter.called
        except BaseException as error:
            with self._lock:
                if waiter in self._queue:
                    self._queue.remove(waiter)
                else:  # the waiter's turn has just come
                    self._give_up_start()
            if isinstance(error, TimeoutError):
                raise Throttled(
                    "other queries were ahead of this one until its time ran out"
                ) from None
            raise

    async def _until_allowed(self, limit: Limit, until: float) -> None:
        try:
            while (wait := max(self._next, self._paused) - self._clock()) > 0:
                self._check(limit, until, 0)
                await asyncio.sleep(wait)
        except BaseException:
            with self._lock:
                self._give_up_start()
            raise
        with self._lock:
            self._next = self._clock() + max(limit.every, self._spacing)
            self._starting = False
            self._call_next()

    async def _beside_others(
        self, inside: AsyncExitStack, limit: Limit, until: float, common: str
    ) -> None:
        """Take a turn in the queue that several machines share. Closing `inside` ends the turn."""

        def check(opening: Opening) -> None:
            if opening.shut:
                self.pause(opening.shut)
            with self._lock:
                self._next = max(self._next, self._clock() + opening.opens)
                self._check(limit, until, 0)

        place = shared_place(common, lambda: limit.at_once, limit.every, check)
        try:
            async with asyncio.timeout(until - self._clock()):
                visit = await inside.enter_async_context(place)
        except TimeoutError:
            raise Throttled("other queries were ahead of this one until its time ran out") from None

        def tell() -> None:
            visit.shut = max(0.0, self._paused - self._clock())

        inside.callback(tell)

    def _check(self, limit: Limit, until: float, before: int) -> None:
        now = self._clock()
        if self._paused > until:
            raise Throttled(
                f"it received too many requests and asks to wait until {self._paused_till}"
            )
        every = max(limit.every, self._spacing)
        start = max(now, self._next, self._paused) + before * every
        if start > until:
            raise Throttled(
                f"{'it received too many requests; ' * bool(self._spacing)}"
                f"it is queried at most once every {every:.3g} s, and this query's turn would"
                " have come too late"
            )

    def _give_up_start(self) -> None:
        self._running -= 1
        self._starting = False
        self._call_next()

    def _call_next(self) -> None:
        while self._queue and not self._starting and self._running < self._queue[0].limit.at_once:
            self._running += 1
            self._starting = True
            if not self._queue.popleft().call():
                self._running -= 1
                self._starting = False


class RateLimiters:
    """The queues of all providers, by name."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._limiters: dict[str, RateLimiter] = {}

    def of(self, name: str) -> RateLimiter:
        """Return a provider's queue, created on first use."""
        with self._lock:
            return self._limiters.setdefault(name, RateLimiter(self._clock))

    def clear(self) -> None:
        """Drop all queues, for tests."""
        with self._lock:
            self._limiters.clear()


RATE_LIMITERS = RateLimiters()


def limit_of(name: str, asked: Mapping[str, tuple[float, int]]) -> Limit | None:
    """Return a provider's limit, if any. `asked` maps names to searches (per second, at once)."""
    if name in asked:
        return Limit.per_second(*asked[name])
    return None if name in UNLIMITED else LIMITS.get(name, DEFAULT)

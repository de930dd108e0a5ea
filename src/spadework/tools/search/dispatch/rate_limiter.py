"""How often each provider is asked, and how long it lets queries wait."""

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
from spadework.tools.stores.shared_rooms import Opening, shared_place
from spadework.tools.web.waiters import Waiter

#: A wait under so many seconds is not worth a word.
LEAST_SECONDS = 0.5


@dataclass
class Waited:
    """How many queries waited at a provider, how long at most, and how many were turned away."""

    queries: int = 0
    longest: float = 0.0
    turned_away: int = 0


class Waits:
    """The waits of a run, by provider."""

    def __init__(self) -> None:
        self._by_name: dict[str, Waited] = {}
        self._said: set[str] = set()

    def add(self, name: str, seconds: float) -> None:
        """One query has waited so long before it was asked."""
        if seconds >= LEAST_SECONDS:
            waited = self._by_name.setdefault(name, Waited())
            waited.queries += 1
            waited.longest = max(waited.longest, seconds)

    def turn_away(self, name: str) -> None:
        """One query was not asked at all."""
        self._by_name.setdefault(name, Waited()).turned_away += 1

    def news(self) -> tuple[str, ...]:
        """The sentences of those providers that were not heard of here before."""
        fresh = [name for name in self._by_name if name not in self._said]
        self._said.update(fresh)
        return tuple(_sentence(name, self._by_name[name]) for name in fresh)


def _sentence(name: str, waited: Waited) -> str:
    parts = []
    if waited.queries:
        seconds = f"{'' if waited.queries == 1 else 'up to '}{max(1, round(waited.longest))} s"
        parts.append(f"let {_queries(waited.queries)} wait, {seconds}")
    if waited.turned_away:
        parts.append(f"had no turn for {_queries(waited.turned_away)}")
    return f"{name} {' and '.join(parts)}, since it may not be asked more often."


def _queries(count: int) -> str:
    return "1 query" if count == 1 else f"{count} queries"


#: Longest wait that a provider can name: one wrong header must not silence it for days.
MOST_PAUSE_SECONDS = 3_600.0
#: Seconds between two searches after a provider was asked too often: at first, and at most.
FIRST_SPACING, MOST_SPACING = 1.1, 8.8


@dataclass(frozen=True)
class Limit:
    """At most `at_once` searches at the same time, begun at least `every` seconds apart."""

    every: float = 0.0
    at_once: int = 8

    @classmethod
    def per_second(cls, searches: float, at_once: int) -> Limit:
        """So many searches a second."""
        return cls(1 / searches, at_once)


#: What providers allow, by name; a search counts as one request where nothing else is said. Those
#: not listed have DEFAULT.
LIMITS: Mapping[str, Limit] = {
    # arXiv, API terms of use: one request every three seconds, a single connection.
    "arxiv": Limit(3.0, 1),
    # NCBI, E-utilities usage policy: three requests a second without a key; a search here is two.
    "pubmed": Limit.per_second(1.5, 2),
    # OpenAlex, rate limits and authentication: ten requests a second.
    "openalex": Limit.per_second(10, 5),
    # MediaWiki, API etiquette: no hard limit on reading, but one request after the other.
    "wikipedia": Limit(0.0, 2),
    # Tavily, rate limits: 100 requests a minute with a development key (else 1,000).
    "tavily": Limit.per_second(100 / 60, 5),
    # Brave Search API, plans: 50 requests a second for Search.
    "brave": Limit.per_second(50, 10),
    # Serper: the rate depends on the plan, and no public page was found; a cautious choice.
    "serper": Limit.per_second(5, 5),
    # DuckDuckGo documents none and soon refuses who hurries; each search is a process here.
    "duckduckgo": Limit.per_second(1, 2),
}
#: For a SearXNG or MCP server, or a provider of one's own: no rate, not too many at once.
DEFAULT = Limit()
#: Nobody waits for the library.
UNLIMITED = ("library",)


@dataclass(eq=False)
class _Waiter(Waiter):
    limit: Limit


class RateLimiter:
    """One provider's queue for all threads and event loops. `clock` counts seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._queue: deque[_Waiter] = deque()
        self._running = 0
        #: Whether one has left the queue and waits for the clock; only one does, in order.
        self._starting = False
        self._next = 0.0
        self._paused = 0.0
        self._paused_till = ""
        #: Seconds between two searches that refusals have taught, and when they last did.
        self._spacing = self._slowed = 0.0

    def pause(self, seconds: float) -> None:
        """Let nobody begin for so long: the provider asked for it."""
        with self._lock:
            seconds = min(seconds, MOST_PAUSE_SECONDS)
            if self._clock() + seconds > self._paused:
                self._paused = self._clock() + seconds
                self._paused_till = f"{datetime.now(UTC) + timedelta(seconds=seconds):%H:%M:%S} UTC"

    def slow_down(self, begun: float) -> None:
        """Space searches out, further than before, since one that began at `begun` was refused."""
        with self._lock:
            if begun >= self._slowed:  # those that were under way together teach one thing
                self._spacing = min(max(FIRST_SPACING, 2 * self._spacing), MOST_SPACING)
                self._slowed = self._clock()
                self._next = max(self._next, self._slowed + self._spacing)

    @contextmanager
    def heeding(self) -> Iterator[None]:
        """Pause where the provider names a time to come back; ask more slowly where it is busy."""
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
        """One's turn; gives the seconds waited. `common` is what machines that ask, too, know the
        provider by. Raises Throttled as soon as it is clear that no turn comes in time.
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
        """A place in the queue, or None where one may go on at once."""
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
                else:  # called in the same moment
                    self._give_up_start()
            if isinstance(error, TimeoutError):
                raise Throttled("others were before this query for all of its time") from None
            raise

    async def _until_allowed(self, limit: Limit, until: float) -> None:
        """Wait for the clock, at the head of the queue."""
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
        """Have a turn among all machines, left with `inside`, when they are told of a pause."""

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
            raise Throttled("others were before this query for all of its time") from None

        def tell() -> None:
            visit.shut = max(0.0, self._paused - self._clock())

        inside.callback(tell)

    def _check(self, limit: Limit, until: float, before: int) -> None:
        """Raise Throttled when the turn would come after `until`, with so many `before` it."""
        now = self._clock()
        if self._paused > until:
            raise Throttled(
                "it answered that there were too many requests, and wants to be left alone until"
                f" {self._paused_till}"
            )
        every = max(limit.every, self._spacing)
        start = max(now, self._next, self._paused) + before * every
        if start > until:
            raise Throttled(
                f"{'it answered that there were too many requests; ' * bool(self._spacing)}"
                f"it is asked at most once in {every:.3g} s, and this query's turn would have"
                " come too late"
            )

    def _give_up_start(self) -> None:
        self._running -= 1
        self._starting = False
        self._call_next()

    def _call_next(self) -> None:
        """Let the first of the queue go on, when there is room."""
        while self._queue and not self._starting and self._running < self._queue[0].limit.at_once:
            self._running += 1
            self._starting = True
            if not self._queue.popleft().call():
                self._running -= 1
                self._starting = False


class RateLimiters:
    """The queues of all providers by name, made when they are first needed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._limiters: dict[str, RateLimiter] = {}

    def of(self, name: str) -> RateLimiter:
        """The queue of a provider."""
        with self._lock:
            return self._limiters.setdefault(name, RateLimiter(self._clock))

    def clear(self) -> None:
        """Forget all queues, as a new process would; for tests."""
        with self._lock:
            self._limiters.clear()


#: The queues of this process.
RATE_LIMITERS = RateLimiters()


def limit_of(name: str, asked: Mapping[str, tuple[float, int]]) -> Limit | None:
    """The limit that settings ask (searches a second, at once), the default, or None for none."""
    if name in asked:
        return Limit.per_second(*asked[name])
    return None if name in UNLIMITED else LIMITS.get(name, DEFAULT)

"""Search with several providers, with cache and rate limits, skipping failing ones."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from spadework.errors import QuotaSpent, SearchError, Throttled
from spadework.tools.search.provider import Closing, Placed, Provider
from spadework.tools.search.rate_limiter import RATE_LIMITERS, RateLimiters, Waits, limit_of
from spadework.tools.search.result_cache import SearchCache
from spadework.tools.search.result_rows import Unmet, fits
from spadework.tools.web import name_lookup
from spadework.values import Hit, Query

#: Consecutive failures after which a provider is skipped for PAUSE_SECONDS.
FAILURES = 3
PAUSE_SECONDS = 60.0
#: Seconds after its deadline at which a provider is cancelled.
GRACE_SECONDS = 1.0
CLOSING_SECONDS = 10.0


@dataclass
class _Breaker:
    failures: int = 0
    until: float = 0.0


@dataclass(frozen=True)
class Manners:
    """How to search: rate limits, caching and retries. `kept` names the providers whose results are
    cached. `asks` limits the attempts while a provider is busy.
    """

    limiters: RateLimiters = RATE_LIMITERS
    limits: Mapping[str, tuple[float, int]] = field(default_factory=lambda: MappingProxyType({}))
    cache: SearchCache | None = None
    kept: frozenset[str] = frozenset()
    asks: int = 3


class Search:
    """The providers of a run and their state. `clock` returns seconds."""

    def __init__(
        self,
        providers: Sequence[Provider],
        manners: Manners | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.providers = tuple(providers)
        self.waits = Waits()
        self.unmet = Unmet()
        self._manners = manners or Manners()
        self._clock = clock
        self._breakers: defaultdict[str, _Breaker] = defaultdict(_Breaker)

    async def find_cached(
        self, provider: Provider, query: Query, *, limit: int
    ) -> list[Hit] | None:
        """Return the query's cached hits, or None. Nothing is charged."""
        self.unmet.add(provider, query)
        cache = self._manners.cache if provider.name in self._manners.kept else None
        return await cache.get(provider.name, query, limit) if cache else None

    async def ask(
        self,
        provider: Provider,
        query: Query,
        *,
        limit: int,
        seconds: float,
        charge: Callable[[], None] = lambda: None,
    ) -> list[Hit]:
        """Return a provider's hits within the query's domains and dates, after calling `charge`.
        `keep` them once they are recorded. Raises SearchError, or Throttled if no turn comes in
        time.
        """
        if seconds <= 0:
            raise SearchError(f"{provider.name} was not queried because there was no time left.")
        if self._clock() < self._breakers[provider.name].until:
            raise SearchError(
                f"{provider.name} is skipped for {PAUSE_SECONDS:g} s after {FAILURES} failures in"
                " a row."
            )
        asked = partial(self._ask, provider, query, limit, charge)
        found = await self._in_turn(provider, asked, seconds)
        return [hit for hit in found if fits(query, hit)]

    async def keep(
        self, provider: Provider, query: Query, hits: Sequence[Hit], *, limit: int
    ) -> None:
        """Cache a query's hits for later sessions."""
        if self._manners.cache and provider.name in self._manners.kept:
            await self._manners.cache.put(provider.name, query, limit, [*hits])

    async def replay(
        self, provider: Provider, query: Query, *, limit: int, seconds: float
    ) -> list[Hit]:
        """Return the hits of recorded responses, without rate limit. Raises SearchError."""
        self.unmet.add(provider, query)
        found = await provider.search(query, limit=limit, seconds=seconds)
        return [hit for hit in found if fits(query, hit)]

    async def close(self) -> None:
        """Close all providers, even after errors or cancellation."""
        ending = asyncio.gather(
            *(provider.close() for provider in self.providers if isinstance(provider, Closing)),
            return_exceptions=True,
        )
        try:
            await asyncio.shield(ending)
        finally:
            await asyncio.wait({ending}, timeout=CLOSING_SECONDS)
        for failed in ending.result():
            if failed is not None:
                raise failed

    async def _in_turn(
        self, provider: Provider, asked: Callable[[float], Awaitable[list[Hit]]], seconds: float
    ) -> list[Hit]:
        """Search in turn, and retry after QuotaSpent while there is time.
        A busy provider gets `Manners.asks` attempts. Others get two if they say how long to wait.
        """
        name, until, refusals = provider.name, self._clock() + seconds, list[QuotaSpent]()
        # The queue's name across machines, or "" if only this machine uses the provider.
        where = provider.where if isinstance(provider, Placed) else name
        common = where and f"search at {where}"
        rate = limit_of(name, self._manners.limits)
        if rate is None:
            return await asked(seconds)
        limiter = self._manners.limiters.of(name)
        while True:
            try:
                left = until - self._clock()
                async with limiter.turn(rate, left, common) as waited:
                    self.waits.add(name, waited)
                    with limiter.respect_limits():
                        return await asked(_rest(seconds, waited, until - self._clock()))
            except Throttled as error:
                if refusals:
                    raise refusals[-1] from None
                self.waits.turn_away(name)
                raise Throttled(f"{name} was not queried: {error}.") from None
            except QuotaSpent as error:
                refusals.append(error)
                most, after = (self._manners.asks, 0.0) if error.busy else (2, math.inf)
                after = after if error.retry_after is None else error.retry_after
                if len(refusals) >= most or after >= until - self._clock():
                    raise

    async def _ask(
        self,
        provider: Provider,
        query: Query,
        limit: int,
        charge: Callable[[], None],
        seconds: float,
    ) -> list[Hit]:
        breaker = self._breakers[provider.name]
        charge()
        name_lookup.install_resolver()
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                hits = await provider.search(query, limit=limit, seconds=seconds)
        except TimeoutError:
            self._failed(breaker)
            raise SearchError(f"{provider.name} did not answer within {seconds:g} s.") from None
        except SearchError as error:
            # A busy provider is retried through its queue, which is faster than skipping it.
            waited_for = isinstance(error, QuotaSpent) and (
                error.busy or error.retry_after is not None
            )
            if not waited_for:
                self._failed(breaker)
            raise
        self._breakers[provider.name] = _Breaker()
        return hits

    def _failed(self, breaker: _Breaker) -> None:
        breaker.failures += 1
        if breaker.failures >= FAILURES:
            breaker.until = self._clock() + PAUSE_SECONDS


def _rest(seconds: float, waited: float, left: float) -> float:
    return seconds if waited < 0.05 else max(0.1, round(left, 1))

"""Asking several providers: kept results first, each at its pace, on without those that fail."""

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
from spadework.tools.search.dispatch.rate_limiter import (
    RATE_LIMITERS,
    RateLimiters,
    Waits,
    limit_of,
)
from spadework.tools.search.dispatch.result_cache import SearchCache
from spadework.tools.search.provider import Closing, Placed, Provider
from spadework.tools.search.search_filters import Unmet, fits
from spadework.tools.web import name_lookup
from spadework.values import Hit, Query

#: After so many failures in a row a provider is left out for so long.
FAILURES = 3
PAUSE_SECONDS = 60.0
#: A provider keeps its own deadline; this much later it is cut off.
GRACE_SECONDS = 1.0
#: How long providers are waited for that are closed by who was cancelled.
CLOSING_SECONDS = 10.0


@dataclass
class _Breaker:
    """Failures of a provider in a row, and until when it is left out."""

    failures: int = 0
    until: float = 0.0


@dataclass(frozen=True)
class Manners:
    """The `limits` of the settings, the providers whose results `cache` keeps (`kept`), and how
    often a query is asked of a provider whose rate was too high (`asks`).
    """

    limiters: RateLimiters = RATE_LIMITERS
    limits: Mapping[str, tuple[float, int]] = field(default_factory=lambda: MappingProxyType({}))
    cache: SearchCache | None = None
    kept: frozenset[str] = frozenset()
    asks: int = 3


class Search:
    """The providers of a run and how they fared. `clock` counts seconds."""

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

    async def known(self, provider: Provider, query: Query, *, limit: int) -> list[Hit] | None:
        """The kept hits of the same question, None where it must be asked. No search is charged."""
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
        """The hits of one provider within the query's domains and days, asked now, `charge` called
        before. They may be `keep`-ed once written down. Raises SearchError, Throttled when its turn
        does not come within `seconds`.
        """
        if seconds <= 0:
            raise SearchError(f"{provider.name} was not asked: no time was left for it.")
        if self._clock() < self._breakers[provider.name].until:
            raise SearchError(
                f"{provider.name} is left out for {PAUSE_SECONDS:g} s after {FAILURES} failures in"
                " a row."
            )
        asked = partial(self._asked, provider, query, limit, charge)
        found = await self._in_turn(provider, asked, seconds)
        return [hit for hit in found if fits(query, hit)]

    async def keep(
        self, provider: Provider, query: Query, hits: Sequence[Hit], *, limit: int
    ) -> None:
        """Keep hits for whoever asks the same later."""
        if self._manners.cache and provider.name in self._manners.kept:
            await self._manners.cache.put(provider.name, query, limit, [*hits])

    async def again(
        self, provider: Provider, query: Query, *, limit: int, seconds: float
    ) -> list[Hit]:
        """The hits in recorded answers: nobody is asked or waited for. Raises SearchError."""
        self.unmet.add(provider, query)
        found = await provider.search(query, limit=limit, seconds=seconds)
        return [hit for hit in found if fits(query, hit)]

    async def close(self) -> None:
        """End what providers hold open: each, whatever becomes of others, also when cancelled."""
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
        """Ask in turn, again after a refusal while there is time: as often as our manners say,
        once more if it is not the rate that was too high.
        """
        name, until, refusals = provider.name, self._clock() + seconds, list[QuotaSpent]()
        # What all machines know it by, "" where it is on this machine alone.
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
                    with limiter.heeding():
                        return await asked(_rest(seconds, waited, until - self._clock()))
            except Throttled as error:
                if refusals:
                    raise refusals[-1] from None
                self.waits.turn_away(name)
                raise Throttled(f"{name} was not asked: {error}.") from None
            except QuotaSpent as error:
                refusals.append(error)
                most, after = (self._manners.asks, 0.0) if error.busy else (2, math.inf)
                after = after if error.retry_after is None else error.retry_after
                if len(refusals) >= most or after >= until - self._clock():
                    raise

    async def _asked(
        self,
        provider: Provider,
        query: Query,
        limit: int,
        charge: Callable[[], None],
        seconds: float,
    ) -> list[Hit]:
        breaker = self._breakers[provider.name]
        charge()
        name_lookup.own()
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                hits = await provider.search(query, limit=limit, seconds=seconds)
        except TimeoutError:
            self._failed(breaker)
            raise SearchError(f"{provider.name} did not answer within {seconds:g} s.") from None
        except SearchError as error:
            # Who is busy is waited for in its queue: being left out is longer.
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
    """The time that is left for the answer, as a number that can be read in a message."""
    return seconds if waited < 0.05 else max(0.1, round(left, 1))

"""Asking several providers: results kept from before first, each at the pace it allows, going on
without those that fail.
"""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from spadework.errors import QuotaSpent, SearchError, Throttled
from spadework.tools.search.provider import Closing, Placed, Provider
from spadework.tools.search.rate_limiter import RATE_LIMITERS, RateLimiters, limit_of
from spadework.tools.search.result_cache import SearchCache
from spadework.tools.search.search_filters import Unmet, fits
from spadework.tools.search.waiting_times import Waits
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
    """How one provider fared: failures in a row, until when it is left out, and whether that was
    said.
    """

    failures: int = 0
    until: float = 0.0
    said: bool = False


@dataclass(frozen=True)
class Manners:
    """How providers are asked. `limits` are those of the settings; `kept` are the providers whose
    results `cache` holds.
    """

    limiters: RateLimiters = RATE_LIMITERS
    limits: Mapping[str, tuple[float, int]] = field(default_factory=lambda: MappingProxyType({}))
    cache: SearchCache | None = None
    kept: frozenset[str] = frozenset()


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

    async def search(
        self, query: Query, *, limit: int, seconds: float
    ) -> list[tuple[str, list[Hit] | SearchError]]:
        """What every provider answers, all asked at once, by name in the order of `providers`: its
        hits or its failure.

        One that is left out after failing too often is in the list once, with that as its error,
        and then missing until it is asked again.
        """
        asked = [provider for provider in self.providers if self._mentioned(provider)]
        async with asyncio.TaskGroup() as group:
            answers = [
                group.create_task(self._answer(provider, query, limit, seconds))
                for provider in asked
            ]
        return [
            (provider.name, answer.result())
            for provider, answer in zip(asked, answers, strict=True)
        ]

    async def known(self, provider: Provider, query: Query, *, limit: int) -> list[Hit] | None:
        """The hits that were kept of the same question, None where it must be asked. Costs no
        search.
        """
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
        """The hits of one provider within the query's domains and days, asked now. `charge` is
        called before every request. Who has written them down may `keep` them for later.

        Raises SearchError when it fails and while it is left out, Throttled when its turn does not
        come within `seconds`.
        """
        if seconds <= 0:
            raise SearchError(f"{provider.name} was not asked: no time was left for it.")
        if self._left_out(self._breakers[provider.name]):
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
        """The hits in answers that came before (`spadework.tools.web.recorded_traffic`): nobody is
        asked, and nothing waited for. Raises SearchError.
        """
        self.unmet.add(provider, query)
        found = await provider.search(query, limit=limit, seconds=seconds)
        return [hit for hit in found if fits(query, hit)]

    async def close(self) -> None:
        """End what providers hold open, such as the processes of MCP servers: each, whatever
        becomes of the others, also when this is cancelled.
        """
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
        """Ask when it is one's turn; once more where the provider named a time to come back and
        that is before the end.
        """
        name, until, again = provider.name, self._clock() + seconds, True
        rate = limit_of(name, self._manners.limits)
        if rate is None:
            return await asked(seconds)
        limiter = self._manners.limiters.of(name)
        while True:
            try:
                left = until - self._clock()
                async with limiter.turn(rate, left, _common(provider)) as waited:
                    self.waits.add(name, waited)
                    with limiter.heeding():
                        return await asked(_rest(seconds, waited, until - self._clock()))
            except Throttled as error:
                self.waits.turn_away(name)
                raise Throttled(f"{name} was not asked: {error}.") from None
            except QuotaSpent as error:
                after = error.retry_after
                if after is None or not again or after >= until - self._clock():
                    raise
                again = False

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
            # One that says when to come back is waited for in its queue; leaving it out would only
            # be longer.
            if not (isinstance(error, QuotaSpent) and error.retry_after is not None):
                self._failed(breaker)
            raise
        self._breakers[provider.name] = _Breaker()
        return hits

    async def _answer(
        self, provider: Provider, query: Query, limit: int, seconds: float
    ) -> list[Hit] | SearchError:
        try:
            if (kept := await self.known(provider, query, limit=limit)) is not None:
                return kept
            hits = await self.ask(provider, query, limit=limit, seconds=seconds)
        except SearchError as error:
            return error
        await self.keep(provider, query, hits, limit=limit)
        return hits

    def _mentioned(self, provider: Provider) -> bool:
        """Whether a provider is asked now, or its being left out has yet to be said."""
        breaker = self._breakers[provider.name]
        silent = self._left_out(breaker) and breaker.said
        breaker.said = self._left_out(breaker)
        return not silent

    def _left_out(self, breaker: _Breaker) -> bool:
        return self._clock() < breaker.until

    def _failed(self, breaker: _Breaker) -> None:
        breaker.failures += 1
        if breaker.failures >= FAILURES:
            breaker.until = self._clock() + PAUSE_SECONDS


def _common(provider: Provider) -> str:
    """What all machines know a provider by, "" where it is on this machine alone."""
    where = provider.where if isinstance(provider, Placed) else provider.name
    return where and f"search at {where}"


def _rest(seconds: float, waited: float, left: float) -> float:
    """The time that is left for the answer, as a number that can be read in a message."""
    return seconds if waited < 0.05 else max(0.1, round(left, 1))

"""Asking several providers, going on without those that fail."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spadework.errors import SearchError
from spadework.tools.search.provider import Provider
from spadework.values import Hit, Query

#: After so many failures in a row a provider is left out for so long.
FAILURES = 3
PAUSE_SECONDS = 60.0
#: A provider keeps its own deadline; this much later it is cut off.
GRACE_SECONDS = 1.0


@dataclass
class _Breaker:
    """How one provider fared: failures in a row, until when it is left out, and whether that was said."""

    failures: int = 0
    until: float = 0.0
    said: bool = False


class Search:
    """The providers of a run and how they fared. `clock` counts seconds."""

    def __init__(self, providers: Sequence[Provider], *, clock: Callable[[], float] = time.monotonic) -> None:
        self.providers = tuple(providers)
        self._clock = clock
        self._breakers = {provider.name: _Breaker() for provider in self.providers}

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[tuple[str, list[Hit] | SearchError]]:
        """What every provider answers, all asked at once, by name in the order of `providers`: its hits or its failure.

        One that is left out after failing too often is in the list once, with that as its error, and then missing until it is asked again.
        """
        asked = [provider for provider in self.providers if self._mentioned(provider)]
        async with asyncio.TaskGroup() as group:
            answers = [group.create_task(self._answer(provider, query, limit, seconds)) for provider in asked]
        return [(provider.name, answer.result()) for provider, answer in zip(asked, answers, strict=True)]

    async def ask(self, provider: Provider, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """The hits of one provider. Raises SearchError when it fails, and while it is left out."""
        breaker = self._breakers[provider.name]
        if self._left_out(breaker):
            raise SearchError(f"{provider.name} is left out for {PAUSE_SECONDS:g} s after {FAILURES} failures in a row.")
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                hits = await provider.search(query, limit=limit, seconds=seconds)
        except TimeoutError:
            self._failed(breaker)
            raise SearchError(f"{provider.name} did not answer within {seconds:g} s.") from None
        except SearchError:
            self._failed(breaker)
            raise
        self._breakers[provider.name] = _Breaker()
        return hits

    async def _answer(self, provider: Provider, query: Query, limit: int, seconds: float) -> list[Hit] | SearchError:
        try:
            return await self.ask(provider, query, limit=limit, seconds=seconds)
        except SearchError as error:
            return error

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

"""What a search provider is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Protocol, runtime_checkable

from spadework.errors import SearchError
from spadework.values import Hit, Query


class Provider(Protocol):
    """A place to search. `name` stands in events, hits and reports."""

    @property
    def name(self) -> str:
        """One lower-case word, such as "searxng"."""
        ...

    @property
    def describes(self) -> str:
        """What is searched, in words for a report, such as "the web, through SearXNG"."""
        ...

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """At most `limit` hits within `seconds`, best first, positions from 1, `provider` and
        `query` set; [] for none. Raises SearchError (QuotaSpent) when it failed, which is not none.
        """
        ...


@runtime_checkable
class Placed(Protocol):
    """A provider known by `where` it is: an address, or "" for what is on this machine alone."""

    where: str


@runtime_checkable
class Closing(Protocol):
    """A provider that holds something open: a connection, or a process."""

    async def close(self) -> None:
        """End it; the provider is not asked again."""
        ...


@asynccontextmanager
async def held_to(name: str, seconds: float) -> AsyncIterator[None]:
    """Foreign code ends in time and raises SearchError, without words that may hold a key."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise SearchError(f"{name} did not answer within {seconds:g} s.") from None
    except SearchError:
        raise
    except Exception as error:
        raise SearchError(f"{name} could not be searched: {type(error).__name__}.") from error

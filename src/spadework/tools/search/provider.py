"""What a search provider is."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

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
        """At most `limit` hits, best first, positions from 1, `provider` and `query` set; [] when
        nothing was found.

        Ends within `seconds`. Raises SearchError (QuotaSpent) when the provider failed, which is
        not the same as finding nothing.
        """
        ...


@runtime_checkable
class Placed(Protocol):
    """A provider that its name does not tell apart from others: `where` does, an address, or "" for
    what is on this machine alone.
    """

    where: str


@runtime_checkable
class Closing(Protocol):
    """A provider that holds something open: a connection, or a process."""

    async def close(self) -> None:
        """End it; the provider is not asked again."""
        ...

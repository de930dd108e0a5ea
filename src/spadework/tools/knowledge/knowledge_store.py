"""What a knowledge store is."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from typing import Protocol

from spadework.tools.knowledge.entry import Entry, Recalled, Which
from spadework.values import Page


class Knowledge(Protocol):
    """Pages by canonical URL, each in its newest state. All methods raise KnowledgeError where it
    cannot be used.
    """

    @property
    def describes(self) -> str:
        """Where it is, in words for `doctor` and messages."""
        ...

    async def search(self, text: str, *, limit: int, since: datetime) -> list[Recalled]:
        """At most `limit` pages fetched since then that fit a question, best first."""
        ...

    async def known(self, url: str, *, since: datetime | None = None) -> Entry | None:
        """The page at a URL, now used; None if unknown or fetched before `since`."""
        ...

    async def add(self, entries: Sequence[Entry]) -> int:
        """Keep pages; newer states replace older. Returns how many are new or newer."""
        ...

    async def forget(self, which: Which) -> int:
        """Remove pages, with every word of them; returns how many."""
        ...

    def pages(self, which: Which) -> AsyncIterator[Page]:
        """The pages that are kept, the newest first."""
        ...

    async def count(self) -> int:
        """How many pages are kept, exactly."""
        ...

    async def close(self) -> None:
        """Give back connections and files."""
        ...

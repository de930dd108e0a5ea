"""Search provider for the library; needs no network or key."""

from __future__ import annotations

import asyncio

from spadework.errors import SearchError
from spadework.tools.library.library import Library
from spadework.values import Hit, Query


class LibrarySearch:
    """Searches an opened library."""

    name = "library"

    def __init__(self, library: Library) -> None:
        self.library = library

    @property
    def describes(self) -> str:
        """The library in words for a report."""
        return self.library.describe

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Search for at most `limit` documents, best first. Raises SearchError after `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                return await self.library.search(query.text, limit=limit)
        except TimeoutError:
            raise SearchError(f"The library did not answer within {seconds:g} seconds.") from None

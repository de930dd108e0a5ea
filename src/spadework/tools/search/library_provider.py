"""Search the library, which needs neither network nor key."""

from __future__ import annotations

import asyncio

from spadework.errors import SearchError, SettingsError
from spadework.tools.library.library import Library
from spadework.values import Hit, Query


class LibrarySearch:
    """Searches an opened library."""

    name = "library"

    def __init__(self, library: Library) -> None:
        self.library = library

    @property
    def describes(self) -> str:
        """The library described in words for a report."""
        return self.library.describe

    async def prepare(self, query: Query) -> None:
        """Build a missing index, and read whole the packages that the query names. Raises
        SearchError.
        """
        try:
            await self.library.build()
            await self.library.widen(query.text)
        except (SettingsError, OSError) as error:
            raise SearchError(str(error)) from error

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most `limit` documents, best first.
        Raises SearchError after `seconds`, or if the index cannot be built.
        """
        try:
            async with asyncio.timeout(seconds):
                return await self.library.search(query.text, limit=limit)
        except TimeoutError:
            raise SearchError(f"The library did not answer within {seconds:g} seconds.") from None
        except (SettingsError, OSError) as error:
            raise SearchError(str(error)) from error

"""A library's index on the disk: built where there is none, and again where it is damaged."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Self, TypeVar

from spadework.errors import SearchError
from spadework.tools.library.builder import build
from spadework.tools.library.document_tables import DAMAGED
from spadework.tools.library.plan import Plan
from spadework.tools.library.search import Searcher

T = TypeVar("T")


class Shelved:
    """The opened index of a plan. `searcher` reads it."""

    searcher: Searcher

    def __init__(
        self, wanted: Plan, understood: frozenset[str], progress: Callable[[str], None] | None
    ) -> None:
        self._plan, self._understood, self._progress = wanted, understood, progress
        self._anew = False
        self._lock = asyncio.Lock()

    @classmethod
    async def open(
        cls, wanted: Plan, understood: frozenset[str], progress: Callable[[str], None] | None
    ) -> Self:
        """The index of a plan. Raises SettingsError when it cannot be written, SearchError."""
        shelved = cls(wanted, understood, progress)
        try:
            await shelved._read()
        except DAMAGED as error:
            await shelved._made_anew(error)
        return shelved

    async def _read(self) -> None:
        if not await asyncio.to_thread(self._plan.folder.exists):
            await build(self._plan, self._progress)
        self.searcher = await asyncio.to_thread(Searcher, self._plan.folder, self._understood)

    async def ask(self, work: Callable[[Searcher], T]) -> T:
        """What is read of it, in a thread. Raises SearchError where it stays damaged."""
        searcher = self.searcher
        try:
            return await asyncio.to_thread(work, searcher)
        except sqlite3.ProgrammingError:
            raise SearchError("The library is closed.") from None
        except DAMAGED as error:
            async with self._lock:  # one makes it anew, the others wait
                if self.searcher is searcher:
                    await self._made_anew(error)
        try:
            return await asyncio.to_thread(work, self.searcher)
        except DAMAGED as error:
            raise self._given_up() from error

    async def _made_anew(self, damage: Exception) -> None:
        """Put the index where the next build sweeps it up, and build another from the sources."""
        if self._anew:
            raise self._given_up() from damage
        self._anew = True
        with suppress(FileNotFoundError):  # another process has done so
            aside = self._plan.shelf / f".damaged-{secrets.token_hex(4)}"
            await asyncio.to_thread(self._plan.folder.rename, aside)
        try:
            await self._read()
        except DAMAGED as error:
            raise self._given_up() from error

    def _given_up(self) -> SearchError:
        return SearchError("The index of the library is damaged, though it was made anew.")

"""Open fallback providers when all other providers have failed."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from spadework.errors import SpadeworkError
from spadework.graph.effort.workload import Stopped, unless_stopped
from spadework.graph.parts import provider_again
from spadework.tools.search.dispatch.provider_choice import Spare
from spadework.tools.search.provider import Provider

if TYPE_CHECKING:
    from spadework.graph.context import SessionContext


_NOBODY = ("", "")


class StandIns:
    """The fallback providers, in order."""

    def __init__(self, spares: Sequence[Spare]) -> None:
        self._spares = list(spares)
        self._lock = asyncio.Lock()
        self.opened: list[Provider] = []
        self._news: list[str] = []

    async def nth(self, context: SessionContext, n: int) -> Provider | None:
        """Return fallback provider `n` (from 0), opening it if necessary, or None if there are no
        more.
        """
        async with self._lock:
            while n >= len(self.opened):
                opening = partial(self._open, context)
                name, describes = await context.journal.moment(
                    "stands in", len(self.opened), tuple[str, str], opening, _NOBODY
                )
                if not name:
                    return None
                if context.journal.recording is not None:
                    self.opened.append(provider_again(name, describes, context.settings))
                context.searching = (*context.searching, describes)
                self._news.append(f"All searches failed; searching {describes} instead.")
            return self.opened[n]

    def news(self) -> list[str]:
        """Return and clear the messages about newly opened providers."""
        told, self._news = self._news, []
        return told

    async def _open(self, context: SessionContext) -> tuple[str, str]:
        while self._spares:
            opening, seconds = self._spares.pop(0)(), context.budget.phase("search", "read")
            try:
                found = await unless_stopped(context.stop, opening, seconds=seconds)
            except (SpadeworkError, OSError, TimeoutError, Stopped):
                continue  # Not reported, because nobody chose this provider.
            if found is not None:
                self.opened.append(found)
                return found.name, found.describes
        return _NOBODY

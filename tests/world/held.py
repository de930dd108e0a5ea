"""A search that keeps a session where it is, until a test lets it go."""

from __future__ import annotations

import asyncio

from spadework.values import Hit, Query


class Held:
    """A provider of one's own that answers nothing before it is let go."""

    name = describes = "held"

    def __init__(self) -> None:
        self.asked = 0
        self.go = asyncio.Event()

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        self.asked += 1
        await self.go.wait()
        return []

"""The events of a run with its pauses: where there is no news, a connection shows that it lives."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TypeVar

T = TypeVar("T")


async def with_pauses(events: AsyncIterator[T], seconds: float) -> AsyncGenerator[T | None, None]:
    """The events, and None whenever there was none for so long."""
    coming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            await asyncio.wait((coming,), timeout=seconds)
            if not coming.done():
                yield None
                continue
            if (event := coming.result()) is None:
                return
            yield event
            coming = asyncio.ensure_future(anext(events, None))
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)

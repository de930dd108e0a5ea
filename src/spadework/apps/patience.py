"""Work that may be abandoned or take long.

MCP cancels a request with a cancel scope, which also cancels every wait of the cleanup, so
connections would leak. Therefore work runs in its own task, which is cancelled once and awaited.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class Left(Exception):
    """The work was abandoned for the reason in `str()`."""


async def apart(work: Coroutine[Any, Any, T], ends: Mapping[str, Coroutine[Any, Any, object]]) -> T:
    """Return what `work` returns. If the caller is cancelled or one of `ends` completes, cancel the
    work and wait for it. Raises what `work` raises, and Left with the reason.
    """
    working = asyncio.create_task(work)
    ending = {asyncio.create_task(end): why for why, end in ends.items()}
    try:
        await asyncio.wait((working, *ending), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise Left(next(why for task, why in ending.items() if task.done()))
        return working.result()
    finally:
        with anyio.CancelScope(shield=True):
            for task in (working, *ending):
                task.cancel()
            await asyncio.gather(working, *ending, return_exceptions=True)


async def with_pauses(events: AsyncIterator[T], seconds: float) -> AsyncGenerator[T | None, None]:
    """Yield the events, and None after each such pause, for a sign of life."""
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

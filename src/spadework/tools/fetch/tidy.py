"""Work that must clean up after itself: cancelled once, however often its caller is."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def tidy(work: Coroutine[Any, Any, T]) -> T:
    """What `work` returns or raises. When the caller is cancelled, `work` is, and has ended before
    this goes on.

    A second cancellation, such as a deadline's that passes while the first one is still dealt with,
    would interrupt the closing of a connection, which then stays open for good.
    """
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        task.cancel()
        while not task.done():
            try:
                await asyncio.wait({task})
            except asyncio.CancelledError:
                continue  # the first one is raised below
        if not task.cancelled():
            task.exception()  # nobody is there for it any more
        raise

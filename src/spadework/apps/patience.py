"""Waiting for what may be left, or may be long in coming.

MCP cancels a request with a cancel scope, which strikes at every wait until the scope is left, also
at those of a cleanup: connections would stay open. So the work runs in a task of its own, which is
cancelled once and waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine, Mapping
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class Left(Exception):
    """The work was left before it was done, for the reason that `str()` gives."""


async def apart(work: Coroutine[Any, Any, T], ends: Mapping[str, Coroutine[Any, Any, object]]) -> T:
    """Return what `work` returns. When the caller is cancelled, or one of `ends` completes, the
    work is cancelled and waited for. Raises what `work` raises, and Left with the reason.
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
    """The events, and None whenever there was none for so long: then a sign of life is sent."""
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

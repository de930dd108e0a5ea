"""Work that its caller may leave at any moment, and that cleans up undisturbed when they do.

MCP cancels a request with a cancel scope, which strikes at every wait until the scope is left, also
at those of a cleanup: connections would stay open. So the work runs in a task of its own, which is
cancelled once and waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class CallerLeft(Exception):
    """Nobody waits for the answer any more."""


async def apart(work: Coroutine[Any, Any, T], left: asyncio.Event | None = None) -> T:
    """What `work` gives. When this is cancelled, or `left` is set, the work is cancelled and its
    end waited for.

    Raises what `work` raises, and CallerLeft when `left` is set first.
    """
    working = asyncio.create_task(work)
    leaving = asyncio.create_task((left or asyncio.Event()).wait())
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise CallerLeft("The client closed its request.")
        return working.result()
    finally:
        with anyio.CancelScope(shield=True):
            for task in (working, leaving):
                task.cancel()
            await asyncio.gather(working, leaving, return_exceptions=True)

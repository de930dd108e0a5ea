"""Work that its caller may leave at any moment, and that cleans up undisturbed when they do.

MCP cancels a request with a cancel scope, which strikes at every wait until the scope is left, also
at those of a cleanup: connections would stay open. So the work runs in a task of its own, which is
cancelled once and waited for.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

import anyio

T = TypeVar("T")


class Left(Exception):
    """The work was left before it was done, for the reason that `str()` gives."""


async def apart(work: Coroutine[Any, Any, T], ends: Mapping[str, Coroutine[Any, Any, object]]) -> T:
    """What `work` gives. When this is cancelled, or one of what may end it is done, the work is
    cancelled and its end waited for.

    Raises what `work` raises, and Left with the sentence of what has ended it.
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

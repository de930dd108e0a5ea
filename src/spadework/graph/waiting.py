"""Waiting that ends with the clock or with the user's wish to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The user wants the report now; what was waited for is cancelled."""


async def unless_stopped(stop: asyncio.Event, work: Coroutine[Any, Any, T], *, seconds: float) -> T:
    """What `work` gives within `seconds`. Raises TimeoutError when it takes longer, Stopped when
    `stop` is set before it is done.
    """
    doing = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait(
            (doing, stopping), timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED
        )
        if doing.done():
            return doing.result()
        raise Stopped if stopping.done() else TimeoutError
    finally:
        doing.cancel()
        stopping.cancel()
        await asyncio.gather(doing, stopping, return_exceptions=True)

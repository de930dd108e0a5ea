"""Waits that end at a deadline or when the user stops."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """The user wants the report now; the work was cancelled."""


async def unless_stopped(stop: asyncio.Event, work: Awaitable[T], *, seconds: float) -> T:
    """Return what `work` returns. Raises TimeoutError after `seconds`, Stopped when `stop` is set
    first.
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

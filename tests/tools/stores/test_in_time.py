"""Work on a disk that is waited for only so long."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from pathlib import Path

from spadework.tools.stores.disk import in_time


async def test_what_was_opened_for_who_is_cancelled_in_that_moment_is_given_back() -> None:
    given_back = []

    async def work() -> str:
        return "opened"

    async def undo(opened: str) -> None:
        given_back.append(opened)

    waiting = asyncio.create_task(in_time(work(), Path("session.sqlite"), 5.0, undo))
    await asyncio.sleep(0)  # it begins the work
    await asyncio.sleep(0)  # the work is done, and nobody knows it yet
    waiting.cancel()
    with suppress(asyncio.CancelledError):
        await waiting
    assert given_back == ["opened"]

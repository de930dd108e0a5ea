"""Delivery of a session's events. The session runs in its own task: a reader that leaves cancels
it, and waits a limited time for its end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

from spadework.budget import Budget
from spadework.events import Event, Finished
from spadework.sessions.storage.disk import disk_faults

#: Maximum seconds for a run to close its files and connections: for a finished one not past its
#: deadline, but at least the minimum.
CLOSING_SECONDS, LEAST_CLOSING = 10.0, 1.0

#: Tells whoever watches a session of an event.
Tell = Callable[[Event], None]


async def handed_on(
    run: Callable[[Tell], Awaitable[None]], folder: Path, budget: Budget
) -> AsyncGenerator[Event, None]:
    """Yield the events that `run` tells, of a session in `folder`. Closing the iterator cancels
    the run.

    Raises what the run raises, with disk faults as our errors.
    """
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    running = asyncio.create_task(_drive(run, folder, queue))
    over = False
    try:
        while (event := await queue.get()) is not None:
            over = isinstance(event, Finished)
            yield event
        await running
    finally:
        try:
            # A reader that has the result need not interrupt the closing until the deadline.
            rest = max(LEAST_CLOSING, min(CLOSING_SECONDS, budget.seconds_left()))
            await asyncio.wait({running}, timeout=rest if over else 0)
        finally:
            running.cancel()
            # What still does not end is dropped with the process; its outcome no longer matters.
            ending = asyncio.gather(running, return_exceptions=True)
            await asyncio.wait({ending}, timeout=LEAST_CLOSING if over else CLOSING_SECONDS)


async def _drive(
    run: Callable[[Tell], Awaitable[None]], folder: Path, queue: asyncio.Queue[Event | None]
) -> None:
    try:
        with disk_faults(folder):
            await run(queue.put_nowait)
    finally:
        queue.put_nowait(None)

"""Handing on the events of a session, which runs in a task of its own: a reader that goes away
half-way cancels that task, and waits for its end no longer than it may take.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

from spadework.budget import Budget
from spadework.events import Event, Finished
from spadework.sessions.storage.disk import disk_faults

#: Seconds that a run may take to close its files and connections: of a finished one not beyond its
#: deadline, but this much at least.
CLOSING_SECONDS, LEAST_CLOSING = 10.0, 1.0


async def handed_on(
    events: AsyncGenerator[Event, None], folder: Path, budget: Budget
) -> AsyncGenerator[Event, None]:
    """The events of a session in `folder` as they happen. Closing the iterator cancels the run.

    Raises what the run raises, faults of its disk as errors of ours.
    """
    queue: asyncio.Queue[Event | None] = asyncio.Queue()
    running = asyncio.create_task(_drive(events, folder, queue))
    over = False
    try:
        while (event := await queue.get()) is not None:
            over = isinstance(event, Finished)
            yield event
        await running
    finally:
        try:
            # Who leaves with the result in hand need not strike what is only closing its files and
            # connections, until the deadline.
            rest = max(LEAST_CLOSING, min(CLOSING_SECONDS, budget.left()))
            await asyncio.wait({running}, timeout=rest if over else 0)
        finally:
            running.cancel()
            # What does not end even so is dropped with the process; what it says of its end is
            # nobody's any more.
            ending = asyncio.gather(running, return_exceptions=True)
            await asyncio.wait({ending}, timeout=LEAST_CLOSING if over else CLOSING_SECONDS)


async def _drive(
    events: AsyncGenerator[Event, None], folder: Path, queue: asyncio.Queue[Event | None]
) -> None:
    try:
        with disk_faults(folder):
            async with aclosing(events):
                async for event in events:
                    queue.put_nowait(event)
    finally:
        queue.put_nowait(None)

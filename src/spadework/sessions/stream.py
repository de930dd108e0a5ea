"""The stream of a running graph, cut off at the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

from spadework.budget import Budget

#: Seconds past the deadline after which the run is cut off and closed by code.
GRACE_SECONDS = 0.3


async def parts_until_deadline(
    stream: AsyncIterator[Any], budget: Budget
) -> AsyncGenerator[Any, None]:
    """The parts of `stream` as they come; it ends with the stream, or a little after the deadline.
    The run never outlives this generator.

    The graph runs in a task of its own, so that neither its consumer nor the clock can strike it in
    the middle of the other's work.
    """
    queue: asyncio.Queue[Any] = asyncio.Queue()
    end = object()

    async def run() -> None:
        try:
            async for part in stream:
                queue.put_nowait(part)
        except asyncio.CancelledError as cancelled:
            # LangGraph hands over the task in which it is still saving, to be waited for before the
            # file is closed.
            await asyncio.gather(
                *(left for left in cancelled.args if isinstance(left, asyncio.Task)),
                return_exceptions=True,
            )
            raise
        finally:
            queue.put_nowait(end)

    task = asyncio.create_task(run())
    try:
        while True:
            try:
                # Not asyncio.wait_for: on Python 3.11 it can lose a cancellation that comes
                # together with a part.
                until = budget.left() + GRACE_SECONDS if budget.replayed is None else None
                async with asyncio.timeout(until):
                    part = await queue.get()
            except TimeoutError:
                return
            if part is end:
                break
            yield part
        await task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

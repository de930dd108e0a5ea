"""Running a session for a call: progress to the client, and nothing left when it leaves."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress

from spadework.apps.mcp.progress_notices import BEAT_SECONDS, LEAST_SECONDS, Teller
from spadework.errors import SessionNotFound
from spadework.events import Ended, Event, Finished, Notice
from spadework.sessions.machines.watching import cancel
from spadework.sessions.redrawing import end
from spadework.sessions.session import Session
from spadework.values import Result


async def run(session: Session, teller: Teller) -> Result:
    """The result of a session. Cancelled, it ends the session, which can be taken up again."""
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    # A client that is slow to take messages must not hold up the run: its events wait in the queue.
    following = asyncio.create_task(_follow(session, events))
    result: Result | None = None
    try:
        # To the very end, also after the result: then the session gives back its connections and
        # files.
        while (event := await _next(events, teller)) is not None:
            result = event.result if isinstance(event, Finished) else result
            await teller.tell(event)
        if teller.waits:  # the last count is not kept back
            await teller.beat()
        await following
        if result is None:
            raise SessionNotFound(f"Session {session.session_id} ended without a result.")
        return result
    except asyncio.CancelledError:
        await _stop_task(following)
        there = await cancel(session)
        if session.brief.kind == "research" and not there:  # another one has closed itself
            with suppress(OSError):
                await asyncio.to_thread(end, session.folder, Ended(how="cancelled"))
        raise
    finally:
        await _stop_task(following)


async def _stop_task(task: asyncio.Task[None]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _follow(session: Session, events: asyncio.Queue[Event | None]) -> None:
    loop = asyncio.get_running_loop()

    def told(text: str) -> None:
        loop.call_soon_threadsafe(events.put_nowait, Notice(text=text))

    try:
        async with aclosing(session.events(progress=told)) as happening:
            async for event in happening:
                events.put_nowait(event)
    finally:
        events.put_nowait(None)


async def _next(events: asyncio.Queue[Event | None], teller: Teller) -> Event | None:
    """The next event; meanwhile the client is told what waits, or that the run goes on."""
    while True:
        try:
            async with asyncio.timeout(LEAST_SECONDS if teller.waits else BEAT_SECONDS):
                return await events.get()
        except TimeoutError:
            await teller.beat()

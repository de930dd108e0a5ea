"""Runs of a session for a call: the client receives progress (a growing number and a sentence), and
everything ends when it leaves.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress

from spadework.apps.messages import number_of
from spadework.apps.view_model import ViewModel
from spadework.backend import backend_of
from spadework.errors import SessionNotFound
from spadework.events import (
    Assessed,
    Ended,
    Event,
    Finished,
    Notice,
    Planned,
    Read,
    Reading,
    Searched,
    Started,
    Wrote,
)
from spadework.prompts import plain
from spadework.sessions.record.records import end
from spadework.sessions.session import Session
from spadework.tools.text.markdown import one_line
from spadework.values import Result

#: progress, total, message
Report = Callable[[float, float | None, str | None], Awaitable[None]]

#: Seconds after which the last message is repeated, so that clients do not time out.
BEAT_SECONDS = 5.0
#: Minimum average seconds between two messages.
LEAST_SECONDS = 0.5
#: Events of single pages.
_OFTEN = (Searched, Reading, Read)
#: Minimum growth of the progress number, in seconds.
STEP = 0.001
MOST_CHARS = 300


async def run(session: Session, report: Report, seconds: float = 0.0) -> Result:
    """Run a session and return its result. `seconds` is the total reported as progress, by default
    the budget's. Cancellation ends the session, which can be resumed.
    """
    teller = Teller(report, seconds or session.budget.seconds)
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    # A slow client must not delay the run: its events are queued.
    following = asyncio.create_task(_follow(session, events))
    result: Result | None = None
    try:
        # Continue after the result, until the session has released its connections and files.
        while (event := await _next(events, teller)) is not None:
            result = event.result if isinstance(event, Finished) else result
            await teller.tell(event)
        if teller.waits:  # deliver the last count
            await teller.beat()
        await following
        if result is None:
            raise SessionNotFound(f"Session {session.session_id} ended without a result.")
        return result
    except asyncio.CancelledError:
        await _stop_task(following)
        there = await backend_of(session.settings).cancel(session)
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

    def notify(text: str) -> None:
        loop.call_soon_threadsafe(events.put_nowait, Notice(text=text))

    try:
        async with aclosing(session.events(progress=notify)) as happening:
            async for event in happening:
                events.put_nowait(event)
    finally:
        events.put_nowait(None)


async def _next(events: asyncio.Queue[Event | None], teller: Teller) -> Event | None:
    """Return the next event; meanwhile send pending messages or signs of life."""
    while True:
        try:
            async with asyncio.timeout(LEAST_SECONDS if teller.waits else BEAT_SECONDS):
                return await events.get()
        except TimeoutError:
            await teller.beat()


class Teller:
    """Progress in seconds used of those available. `waits`: a message came too soon."""

    def __init__(self, report: Report, seconds: float) -> None:
        self._report = report
        self._seconds = seconds
        self._began = time.monotonic()
        self._told = 0.0
        self._message = "Starting"
        self._view = ViewModel()
        self._sent = 0
        self.waits = False

    async def tell(self, event: Event) -> None:
        """Report an event if it deserves a message."""
        self._view.take(event)
        if message := self._worded(event):
            self._message = plain(one_line(message, MOST_CHARS))
            # Milestones are always sent; other messages that come too soon wait, and are replaced
            # by newer ones.
            early = self._sent * LEAST_SECONDS > time.monotonic() - self._began
            self.waits = isinstance(event, _OFTEN) and early
            if not self.waits:
                await self.beat()

    async def say(self, message: str) -> None:
        """Send a sentence to the client."""
        self._message = plain(one_line(message, MOST_CHARS))
        await self.beat()

    async def beat(self) -> None:
        """Send the last message with the elapsed time."""
        self._sent, self.waits = self._sent + 1, False
        self._told = max(self._told + STEP, round(time.monotonic() - self._began, 3))
        await self._report(self._told, max(self._seconds, self._told), self._message)

    def _worded(self, event: Event) -> str:
        if isinstance(event, Started):
            verb = "Resumed" if event.resumed else "Begun"
            where = f", searching {'; '.join(event.searching)}" if event.searching else ""
            return f"{verb} in session {event.session_id}{where}"
        if isinstance(event, Notice):
            return event.text
        if isinstance(event, Planned):
            names = [topic.name for topic in event.plan.topics]
            return f"Planned {number_of(len(names), 'topic')}: {', '.join(names)}"
        if isinstance(event, Assessed):
            answered = sum(c.covered for c in event.coverage)
            return (
                f"Round {event.round}: {answered} of {number_of(len(event.coverage), 'topic')}"
                f" answered by {number_of(event.evidence, 'quote')}"
            )
        return self._of_a_page(event, f"Round {self._view.rounds + 1}: " if self._view.plan else "")

    def _of_a_page(self, event: Event, when: str) -> str:
        if isinstance(event, Searched):
            found = number_of(event.hits, "hit")
            return f"{when}searched {event.provider} for “{event.query}”, {found}"
        if isinstance(event, Reading):
            return f"{when}reading {event.title or event.url}"
        if isinstance(event, Read):
            return f"{when}{number_of(self._view.read, 'page')} read"
        if isinstance(event, Wrote):
            return "Checking the report" if event.final else "Writing the report"
        return ""

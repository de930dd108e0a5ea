"""Run a session for a tool call, and end it if the client disconnects."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from mcp.server.mcpserver import Context

from spadework.apps.messages import number_of
from spadework.apps.view_model import ViewModel, foretold
from spadework.apps.web.security import user_of
from spadework.backend import backend_of
from spadework.errors import SessionNotFound
from spadework.events import (
    Assessed,
    Ended,
    Event,
    Finished,
    Foreseen,
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
from spadework.sessions.users import OWNER, People, User
from spadework.settings import Settings
from spadework.values import Result
from spadework.visible import one_line

T = TypeVar("T")
#: A callback that receives the progress and the total, both in seconds, and a message.
Report = Callable[[float, float | None, str | None], Awaitable[None]]

#: If no message was sent for this many seconds, the last one is repeated, so that clients do not
#: time out.
BEAT_SECONDS = 5.0
#: Minimum average time between messages, in seconds.
LEAST_SECONDS = 1.0
_OFTEN = (Searched, Reading, Read)
#: Minimum increase in progress between messages, in seconds.
STEP = 0.001
MOST_CHARS = 300


async def run(session: Session, report: Report, seconds: float = 0.0) -> Result:
    """Run a session. `seconds` is the total that progress reports show; 0 means the session's time
    budget. Cancelling the call ends the session, which can be resumed.
    """
    teller = Teller(report, seconds or session.budget.seconds)
    events: asyncio.Queue[Event | None] = asyncio.Queue()
    # A slow client must not delay the run.
    following = asyncio.create_task(_follow(session, events))
    result: Result | None = None
    try:
        # Keep reading after the result, because the session must still close its connections and
        # files.
        while (event := await teller.beat_during(events.get())) is not None:
            result = event.result if isinstance(event, Finished) else result
            await teller.tell(event)
        if teller.waits:  # send the progress that was held back
            await teller.beat()
        await following
        if result is None:
            raise SessionNotFound(f"Session {session.session_id} ended without a result.")
        return result
    except asyncio.CancelledError:
        await _stop_task(following)
        there = await backend_of(session.settings).cancel(session)
        # Other kinds of session record their own end.
        if session.brief.kind == "research" and not there:
            with suppress(OSError):
                await asyncio.to_thread(end, session.folder, Ended(how="cancelled"))
        raise
    finally:
        await _stop_task(following)


async def _stop_task(task: asyncio.Task[Any]) -> None:
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


class Teller:
    """Reports a session's progress in seconds. `waits` is true while a message is held back."""

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
        """Update the view with an event, and send a message if the event is notable."""
        self._view.take(event)
        if message := self._worded(event):
            self._message = plain(one_line(message, MOST_CHARS))
            # Milestones are sent at once. Other messages can wait, or be replaced by later ones.
            early = self._sent * LEAST_SECONDS > time.monotonic() - self._began
            self.waits = isinstance(event, _OFTEN) and early
            if not self.waits:
                await self.beat()

    async def say(self, message: str) -> None:
        """Send a message to the client."""
        self._message = plain(one_line(message, MOST_CHARS))
        await self.beat()

    async def beat(self) -> None:
        """Send the last message with the elapsed time."""
        self._sent, self.waits = self._sent + 1, False
        self._told = max(self._told + STEP, round(time.monotonic() - self._began, 3))
        await self._report(self._told, max(self._seconds, self._told), self._message)

    async def beat_during(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, sending heartbeats until it is done."""
        task = asyncio.create_task(work)
        try:
            while not task.done():
                seconds = LEAST_SECONDS if self.waits else BEAT_SECONDS
                if not (await asyncio.wait({task}, timeout=seconds))[0]:
                    await self.beat()
            return task.result()
        finally:
            await _stop_task(task)

    def _worded(self, event: Event) -> str:
        if isinstance(event, Started):
            verb = "Resumed" if event.resumed else "Started"
            where = f", searching {'; '.join(event.searching)}" if event.searching else ""
            return f"{verb} session {event.session_id}{where}"
        if isinstance(event, Notice):
            return event.text
        if isinstance(event, Foreseen):
            return f"Estimate: {foretold(event.forecast)}"
        if isinstance(event, Planned):
            names = [topic.name for topic in event.plan.topics]
            return f"Planned {number_of(len(names), 'topic')}: {', '.join(names)}"
        if isinstance(event, Assessed):
            answered = sum(c.covered for c in event.coverage)
            return (
                f"Round {event.round}: {answered} of {number_of(len(event.coverage), 'topic')}"
                f" answered, {number_of(event.evidence, 'quote')} so far"
            )
        return self._of_a_page(event, f"Round {self._view.rounds + 1}: " if self._view.plan else "")

    def _of_a_page(self, event: Event, when: str) -> str:
        if isinstance(event, Searched):
            found = number_of(event.hits, "hit")
            return f"{when}searched {event.provider} for “{event.query}”: {found}"
        if isinstance(event, Reading):
            return f"{when}reading {event.title or event.url}"
        if isinstance(event, Read):
            return f"{when}{number_of(self._view.read, 'page')} read"
        if isinstance(event, Wrote):
            return "Checking the report" if event.final else "Writing the report"
        return ""


@dataclass(frozen=True)
class ToolContext:
    """A tool call's context. A `local` caller may see file paths."""

    settings: Settings
    people: People
    local: bool = False
    user: str = ""

    async def home_of(self, session_id: str) -> Path:
        """Return the user's home folder, after copying the session from the workers into it."""
        await self.people.look()
        settings = self.people.settings_of(self.user)
        await fetch_session(settings, session_id)
        return settings.home

    @property
    def form_tokens(self) -> int:
        """The maximum tokens in each form of an output (text and structured content)."""
        return ANSWER_TOKENS // 2 - ROOM_TOKENS


#: The session id that stands for the newest session.
LATEST = "latest"
#: Tokens reserved in each form of an answer for titles, addresses and hints.
ROOM_TOKENS = 400
#: Maximum tokens in an answer's text and structured content together.
ANSWER_TOKENS = 20_000

Call = Context[ToolContext, Any]


async def fetch_session(settings: Settings, session_id: str) -> None:
    """Fetch a session from the workers. For "latest", fetch the session list first."""
    if session_id == LATEST:
        await backend_of(settings).know_all(settings)
    await backend_of(settings).find(settings, session_id)


def caller_of(request: Any) -> User:
    """Return the user who sent a request, or the owner if the call did not come over HTTP."""
    return OWNER if request is None else user_of(request.scope)


def door_of(call: Call) -> ToolContext:
    """Return a call's tool context, with the settings of the user who made the call."""
    context = call.request_context
    door: ToolContext = context.lifespan_context
    name = caller_of(context.request).name
    return replace(door, settings=door.people.settings_of(name), user=name) if name else door

"""Telling the client how a run goes: a number that only grows, and a sentence."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from spadework.apps.saying import number_of
from spadework.apps.view_model import ViewModel
from spadework.events import (
    Assessed,
    Event,
    Notice,
    Planned,
    Read,
    Reading,
    Searched,
    Started,
    Wrote,
)
from spadework.prompts import plain
from spadework.tools.text.markdown_marks import one_line

#: progress, total, message
Report = Callable[[float, float | None, str | None], Awaitable[None]]

#: After so many seconds without news the last message is repeated: clients that wait for signs of
#: life go on waiting.
BEAT_SECONDS = 5.0
#: Seconds between two messages at least, on the whole.
LEAST_SECONDS = 0.5
#: What happens page by page.
_OFTEN = (Searched, Reading, Read)
#: The number grows by this at least, in seconds.
STEP = 0.001
MOST_CHARS = 300


class Teller:
    """Progress in seconds used of those the run may take. `waits`: a message came too soon."""

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
        """Tell the client of an event, if it is worth a message."""
        self._view.take(event)
        if message := self._worded(event):
            self._message = plain(one_line(message, MOST_CHARS))
            # Milestones are always told; between them what comes too soon waits, and gives way to
            # what comes then.
            early = self._sent * LEAST_SECONDS > time.monotonic() - self._began
            self.waits = isinstance(event, _OFTEN) and early
            if not self.waits:
                await self.beat()

    async def say(self, message: str) -> None:
        """Tell the client a sentence."""
        self._message = plain(one_line(message, MOST_CHARS))
        await self.beat()

    async def beat(self) -> None:
        """Tell the last message, with the time that has passed."""
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

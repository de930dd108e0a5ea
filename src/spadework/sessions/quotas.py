"""What one user may have of a server: so many runs at once, so many tokens and dollars a day. Its
home says whose a session is. A server that is being stopped takes nothing new of anybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AbstractContextManager, asynccontextmanager

from spadework.budget import Budget
from spadework.errors import DaySpent, Stopping
from spadework.sessions import admission
from spadework.sessions.admission import Whose
from spadework.sessions.day_limit import day_limit_of
from spadework.sessions.tally import TALLY
from spadework.settings import Settings

STOPPING = "This server is being stopped and takes no new question."


def check_open() -> None:
    """Whether this process takes new research. Raises Stopping."""
    if admission.here().closed:
        TALLY.refused["stopping"] += 1
        raise Stopping(STOPPING, hint="Ask again in a moment.")


async def accept(settings: Settings) -> None:
    """Whether a server takes one more question. Raises Stopping, DaySpent."""
    check_open()
    await check(settings)


async def check(settings: Settings, *, replayed: bool = False) -> None:
    """Whether a session may begin, now or from the queue. Raises DaySpent."""
    if replayed:
        return
    try:
        await day_limit_of(settings)
    except DaySpent:
        TALLY.refused["day"] += 1
        raise


def place(
    settings: Settings, stop: asyncio.Event, progress: Callable[[str], None] | None
) -> AbstractAsyncContextManager[None]:
    """A place in the process, waited for; `progress` is told the place in the queue."""

    def told(place: int, of: int) -> None:
        if progress:
            full = whose.most and admission.here().inside_of(whose.user) >= whose.most
            why = why_waiting(whose.most if full else 0)
            progress(f"{why}: place {place} of {of} in the queue.")

    whose = _whose(settings)
    return admission.here().place(settings.parallel_sessions, stop, told, whose)


def stepped_out(settings: Settings) -> AbstractContextManager[None]:
    """Leave the place to others while the user is thinking."""
    return admission.here().stepped_out(_whose(settings).user)


def _whose(settings: Settings) -> Whose:
    return Whose(str(settings.home), settings.user_runs)


def why_waiting(most: int) -> str:
    """Why one must wait: for `most` runs of one's own, as many as may be, or (0) for others'."""
    if most:
        many = "1 question is" if most == 1 else f"{most} questions are"
        return f"{many} being researched for you, as many as may be at once"
    return "Other questions are being researched"


@asynccontextmanager
async def day_limit(budget: Budget, settings: Settings, *, replayed: bool) -> AsyncIterator[None]:
    """Let a run, not a replay, take no more than its user may have today. Raises DaySpent."""
    found = None if replayed else await day_limit_of(settings)
    if found is None:
        yield
        return
    budget.draw_on(found)
    try:
        yield
    finally:
        await found.refresh()

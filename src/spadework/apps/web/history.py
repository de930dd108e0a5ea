"""The sessions so far, as the side of every page lists them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path

from spadework.apps.view_model import ViewModel
from spadework.apps.web.known_sessions import read_question
from spadework.apps.web.page_context import Web
from spadework.errors import DiskFailed, SessionError
from spadework.sessions.listing import Listed, list_sessions
from spadework.sessions.machines.finding import know, know_all

#: Sessions in the list; older ones are reached by their address.
MOST_LISTED = 100

#: Days that are called by their names.
DAYS_NAMED = 7
_NEAR = ("Today", "Yesterday")
UNFINISHED, UNREADABLE = "not finished", "cannot be read"

_WORDS = {
    "completed": "done",
    "time_limited": "out of time",
    "budget_limited": "out of budget",
    "partial": "stopped early",
    "failed": "failed",
}


@dataclass(frozen=True)
class Entry:
    """A session in the list; `state` and `when` in words; `owner` where another has shared it."""

    id: str
    question: str
    state: str
    when: str
    live: bool = False
    owner: str = ""


async def history_of(web: Web) -> list[Entry]:
    """The newest sessions, but for single pages that MCP's clients have read."""
    live = await know_all(web.settings)
    kept = await asyncio.to_thread(_newest, web.settings.home)
    running = {run.session.session_id: run for run in web.runs.current()}
    known = {data.id for data in kept}
    new = [
        Entry(id_, run.session.question, "running", "Today", True)
        for id_, run in running.items()
        if id_ not in known
    ]
    return [*new, *(_entry(data, web, data.id in live) for data in kept)][:MOST_LISTED]


async def shared_with(web: Web) -> list[Entry]:
    """The newest sessions that others have shared with the user."""
    people = web.access.people
    if people is None or not people.there:
        return []
    found = []
    for share in people.shares.reaching(web.user)[:MOST_LISTED]:
        settings = people.settings_of(share.owner)
        with suppress(SessionError, DiskFailed):
            await know(settings, share.session_id)
            asked = await asyncio.to_thread(read_question, settings.home, share.session_id)
            owner = share.owner or "the owner of this server"
            found.append(Entry(share.session_id, asked, owner, "Shared with you", owner=owner))
    return found


def _newest(home: Path) -> list[Listed]:
    return list(islice((one for one in list_sessions(home) if one.kind != "read"), MOST_LISTED))


def words_of(picture: ViewModel) -> tuple[str, bool]:
    """The state of a session in words, and whether it is live, as its own page knows them."""
    if picture.result:
        return _WORDS[picture.result.status], False
    if picture.ended:
        return UNFINISHED, False
    return ("waiting for you" if picture.asked else "running"), True


def _entry(data: Listed, web: Web, elsewhere: bool) -> Entry:
    """The session in the list; `elsewhere`: a worker has it or will."""
    if data.unreadable:
        return Entry(data.id, data.unreadable, UNREADABLE, "Cannot be read")
    run = web.runs.running(data.id)
    result = run.result if run else None
    live = run is not None and not (run.over or result)
    state = _WORDS.get(result.status if result else data.status, UNFINISHED)
    if run is not None and live:
        state = "waiting for you" if run.asked else "running"
    if elsewhere and run is None:
        state, live = "running", True
    return Entry(data.id, data.query, state, _when(data.created_at.astimezone().date()), live)


def _when(day: date) -> str:
    """A day in words: those of this week by their names, the others by their dates."""
    ago = (datetime.now().astimezone().date() - day).days
    near = _NEAR[max(0, ago)] if ago < len(_NEAR) else f"{day:%A}"
    return near if ago < DAYS_NAMED else f"{day:%Y-%m-%d}"

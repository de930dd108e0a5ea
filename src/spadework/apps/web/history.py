"""The sessions so far, as the side of every page lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path

from spadework.apps.view_model import ViewModel
from spadework.apps.web.page_context import Web
from spadework.sessions.listing import Listed, list_sessions
from spadework.sessions.lock import is_held
from spadework.sessions.machines.finding import know_all
from spadework.values import STATE_WORDS, CoverageState

#: Sessions in the list; older ones are reached by their address.
MOST_LISTED = 100

#: Days that are called by their names.
DAYS_NAMED = 7
_NEAR = ("Today", "Yesterday")
UNFINISHED, UNREADABLE, ELSEWHERE = "not finished", "cannot be read", "running elsewhere"

#: What a report says of the question as a whole; one without topics is just there.
_FOUND: dict[CoverageState, str] = {**STATE_WORDS, "open": "not found"}
DONE = "done"
#: Why a run ended before it was through; other statuses say it themselves.
_EARLY = {"completed": "", "partial": "stopped early"}


@dataclass(frozen=True)
class Entry:
    """A session in the list; `state` and the day, `when`, in words; `time` of that day, "" where it
    is not known.
    """

    id: str
    question: str
    state: str
    when: str
    time: str = ""
    live: bool = False


async def history_of(web: Web) -> list[Entry]:
    """The newest sessions, but for single pages that MCP's clients have read."""
    live = await know_all(web.settings)
    kept = await asyncio.to_thread(_newest, web.settings.home)
    running = {run.session.session_id: run for run in web.runs.current()}
    known = {data.id for data in kept}
    now = f"{datetime.now().astimezone():%H:%M}"
    new = [
        Entry(id_, run.session.question, "running", "Today", now, True)
        for id_, run in running.items()
        if id_ not in known
    ]
    held = await asyncio.to_thread(_held, web, kept)
    return [*new, *(_entry(data, web, live, held) for data in kept)][:MOST_LISTED]


def _newest(home: Path) -> list[Listed]:
    return list(islice((one for one in list_sessions(home) if one.kind != "read"), MOST_LISTED))


def _held(web: Web, listed: Sequence[Listed]) -> frozenset[str]:
    """The unfinished ones among sessions that another process works on now."""
    unfinished = (one.id for one in listed if not one.status and not one.unreadable)
    folders = web.settings.home / "sessions"
    return frozenset(
        id_ for id_ in unfinished if web.runs.running(id_) is None and is_held(folders / id_)
    )


def words_of(picture: ViewModel) -> tuple[str, bool]:
    """The state of a session in words, and whether it is live, as its own page knows them."""
    if picture.result:
        return _words(picture.result.status, picture.result.state), False
    if picture.elsewhere:
        return ELSEWHERE, False
    if picture.ended:
        return UNFINISHED, False
    return ("waiting for you" if picture.asked else "running"), True


def _words(status: str, found: CoverageState | None) -> str:
    """What became of a session, in words; `status` is "" while it has no report."""
    if not status:
        return UNFINISHED
    early = _EARLY.get(status, status.replace("_", " "))
    if status == "failed":
        return early
    return ", ".join(filter(None, (_FOUND[found] if found else DONE, early)))


def _entry(data: Listed, web: Web, workers: Set[str], held: Set[str]) -> Entry:
    """The session in the list; workers have some or will, other processes here hold some."""
    if data.unreadable:
        return Entry(data.id, data.unreadable, UNREADABLE, "Cannot be read")
    run = web.runs.running(data.id)
    result = run.result if run else None
    live = run is not None and not (run.over or result)
    state = _words(result.status, result.state) if result else _words(data.status, data.found)
    if run is not None and live:
        state = "waiting for you" if run.asked else "running"
    if run is None and data.id in workers:
        state, live = "running", True
    elif run is None and data.id in held:
        state = ELSEWHERE
    began = data.created_at.astimezone()
    return Entry(data.id, data.query, state, _when(began.date()), f"{began:%H:%M}", live)


def _when(day: date) -> str:
    """A day in words: those of this week by their names, the others by their dates."""
    ago = (datetime.now().astimezone().date() - day).days
    near = _NEAR[max(0, ago)] if ago < len(_NEAR) else f"{day:%A}"
    return near if ago < DAYS_NAMED else f"{day:%Y-%m-%d}"

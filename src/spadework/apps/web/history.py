"""Load sessions for the pages."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from pathlib import Path

from spadework.apps.view_model import ViewModel
from spadework.apps.web.page_context import Web
from spadework.backend import backend_of
from spadework.errors import SessionError, SessionNotFound, SessionUnreadable
from spadework.events import Event, Finished
from spadework.sessions.library_index import related
from spadework.sessions.record.log import read_log
from spadework.sessions.storage.files import (
    is_held,
    read_ledger,
    read_metadata,
    read_page,
    read_result,
    session_folder,
)
from spadework.sessions.storage.session_list import Listed, list_sessions
from spadework.values import STATE_WORDS, CoverageState, Evidence, Result


async def known_session(web: Web, session_id: str) -> str:
    """Return `session_id` if the session exists. Raises SessionNotFound."""
    await web.runs.find(session_id)
    if web.runs.find_running(session_id) is None:
        await asyncio.to_thread(session_folder, web.settings.home, session_id)
    return session_id


async def view_model_of(web: Web, session_id: str) -> tuple[ViewModel, bool]:
    """Return a session's view model and whether it is running. Raises SessionNotFound."""
    await web.runs.find(session_id)
    run = web.runs.find_running(session_id)
    if run is None:
        return await asyncio.to_thread(_load_picture, web.settings.home, session_id), False
    return _fold(run.session.question, run.recorded), not run.over


def _fold(question: str, told: Iterable[Event | None]) -> ViewModel:
    picture = ViewModel(question=question)
    for n, event in enumerate(told, 1):
        if event is not None:
            picture.n = n
            picture.take(event)
    return picture


def _load_picture(home: Path, session_id: str) -> ViewModel:
    folder = session_folder(home, session_id)
    picture = _fold(read_metadata(folder).query, read_log(folder))
    with suppress(SessionUnreadable):  # show the log even without a result
        if picture.result is None and (result := read_result(folder)) is not None:
            picture.take(Finished(result=result))
    if picture.result:  # the session's folder may have moved since the run
        picture.result = picture.result.model_copy(update={"session_dir": str(folder)})
    picture.elsewhere = picture.result is None and is_held(folder)
    return picture


async def result_of(web: Web, session_id: str) -> Result:
    """Return a session's result. Raises SessionNotFound if it has none."""
    folder = await folder_of(web, session_id)
    if (result := await asyncio.to_thread(read_result, folder)) is None:
        raise SessionNotFound("This session has no report yet.")
    return result


async def folder_of(web: Web, session_id: str) -> Path:
    """Return a session's folder. Raises SessionNotFound."""
    await web.runs.find(session_id)
    return await asyncio.to_thread(session_folder, web.settings.home, session_id)


def read_versions(home: Path, session_id: str) -> list[tuple[str, str, str]]:
    """Return (id, question, report) of a session and those it follows up, oldest first."""
    found: list[tuple[str, str, str]] = []
    with suppress(SessionError):
        while session_id and len(found) < MOST_VERSIONS:
            folder = session_folder(home, session_id)
            metadata, result = read_metadata(folder), read_result(folder)
            found.insert(0, (session_id, metadata.query, result.report if result else ""))
            session_id = metadata.follows
    return found


async def page_of(web: Web, session_id: str, content_hash: str) -> tuple[str, list[Evidence]]:
    """Return a stored page's text and evidence. Raises SessionNotFound."""
    return await asyncio.to_thread(_page, await folder_of(web, session_id), content_hash)


async def related_questions(web: Web, session_id: str) -> list[str]:
    """Suggest follow-up questions to a report. Raises SessionNotFound if there is no report."""
    result = await result_of(web, session_id)
    return await asyncio.to_thread(related, await folder_of(web, session_id), result)


def _page(folder: Path, content_hash: str) -> tuple[str, list[Evidence]]:
    text = read_page(folder, content_hash)
    if text is None:
        raise SessionNotFound("This session did not read that page.")
    return text, [e for e in read_ledger(folder) if e.content_hash == content_hash]


#: Maximum sessions listed, and maximum earlier reports shown. Older ones can be opened only by URL.
MOST_LISTED, MOST_VERSIONS = 100, 20

DAYS_NAMED = 7
_NEAR = ("Today", "Yesterday")
UNFINISHED, UNREADABLE, ELSEWHERE = "not finished", "cannot be read", "running elsewhere"

#: Words for how fully the whole question was answered.
_FOUND: dict[CoverageState, str] = {**STATE_WORDS, "open": "not found"}
DONE = "done"
#: Words for how a run ended, keyed by status. Other statuses are shown as they are, with spaces
#: instead of underscores.
_EARLY = {"completed": "", "partial": "stopped early"}


@dataclass(frozen=True)
class Entry:
    """A session in the list. `when` is the day; `time` is HH:MM, or "" if it is unreadable."""

    id: str
    question: str
    state: str
    when: str
    time: str = ""
    live: bool = False


async def history_of(web: Web) -> list[Entry]:
    """Return the newest sessions, excluding sessions that only read a page."""
    live = await backend_of(web.settings).know_all(web.settings)
    kept = await asyncio.to_thread(_newest, web.settings.home)
    running = {run.session.session_id: run for run in web.runs.current()}
    known = {data.id for data in kept}
    now = f"{datetime.now().astimezone():%H:%M}"
    new = [
        Entry(id_, run.session.question, "running", "Today", now, True)
        for id_, run in running.items()
        if id_ not in known
    ]
    held = await asyncio.to_thread(_running_elsewhere, web, kept)
    return [*new, *(_entry(data, web, live, held) for data in kept)][:MOST_LISTED]


def _newest(home: Path) -> list[Listed]:
    return list(islice((one for one in list_sessions(home) if one.kind != "read"), MOST_LISTED))


def _running_elsewhere(web: Web, listed: Sequence[Listed]) -> frozenset[str]:
    unfinished = (one.id for one in listed if not one.status and not one.unreadable)
    folders = web.settings.home / "sessions"
    return frozenset(
        id_ for id_ in unfinished if web.runs.find_running(id_) is None and is_held(folders / id_)
    )


def words_of(picture: ViewModel) -> tuple[str, bool]:
    """Return a session's state in words, and whether it is live."""
    if picture.result:
        return _words(picture.result.status, picture.result.state), False
    if picture.elsewhere:
        return ELSEWHERE, False
    if picture.ended:
        return UNFINISHED, False
    return ("waiting for you" if picture.asked else "running"), True


def _words(status: str, found: CoverageState | None) -> str:
    if not status:
        return UNFINISHED
    early = _EARLY.get(status, status.replace("_", " "))
    if status == "failed":
        return early
    return ", ".join(filter(None, (_FOUND[found] if found else DONE, early)))


def _entry(data: Listed, web: Web, workers: Set[str], held: Set[str]) -> Entry:
    """Return a session's list entry. `workers` holds the ids of sessions running on workers, and
    `held` those of sessions held by other processes.
    """
    if data.unreadable:
        return Entry(data.id, data.unreadable, UNREADABLE, "Cannot be read")
    run = web.runs.find_running(data.id)
    result = run.result if run else None
    live = run is not None and not (run.over or result)
    state = _words(result.status, result.state) if result else _words(data.status, data.found)
    if run is not None and live:
        state = "waiting for you" if run.open_question else "running"
    if run is None and data.id in workers:
        state, live = "running", True
    elif run is None and data.id in held:
        state = ELSEWHERE
    began = data.created_at.astimezone()
    return Entry(data.id, data.query, state, _when(began.date()), f"{began:%H:%M}", live)


def _when(day: date) -> str:
    ago = (datetime.now().astimezone().date() - day).days
    near = _NEAR[max(0, ago)] if ago < len(_NEAR) else f"{day:%A}"
    return near if ago < DAYS_NAMED else f"{day:%Y-%m-%d}"

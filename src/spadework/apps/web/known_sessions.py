"""A session by its id: of a run of this server what it has told, of others what was kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from spadework.apps.view_model import ViewModel
from spadework.apps.web.page_context import Web
from spadework.errors import SessionError, SessionNotFound, SessionUnreadable
from spadework.events import Event, Finished
from spadework.sessions.files import (
    read_ledger,
    read_metadata,
    read_page,
    read_result,
    session_folder,
)
from spadework.sessions.lock import is_held
from spadework.sessions.log import read_log
from spadework.values import Evidence, Result


async def known_session(web: Web, session_id: str) -> str:
    """The id itself. Raises SessionNotFound when there is no such session."""
    await web.runs.find(session_id)
    if web.runs.running(session_id) is None:
        await asyncio.to_thread(session_folder, web.settings.home, session_id)
    return session_id


async def view_model_of(web: Web, session_id: str) -> tuple[ViewModel, bool]:
    """What the page of a session shows now, and whether it runs. Raises SessionNotFound."""
    await web.runs.find(session_id)
    run = web.runs.running(session_id)
    if run is None:
        return await asyncio.to_thread(_load_picture, web.settings.home, session_id), False
    return _fold(run.session.question, run.told), not run.over


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
    with suppress(SessionUnreadable):  # what the log tells of is shown all the same
        if picture.result is None and (result := read_result(folder)) is not None:
            picture.take(Finished(result=result))
    picture.elsewhere = picture.result is None and is_held(folder)
    return picture


async def result_of(web: Web, session_id: str) -> Result:
    """The result of a session. Raises SessionNotFound when there is none yet."""
    folder = await _folder_of(web, session_id)
    if (result := await asyncio.to_thread(read_result, folder)) is None:
        raise SessionNotFound("This session has no report yet.")
    return result


async def _folder_of(web: Web, session_id: str) -> Path:
    await web.runs.find(session_id)
    return await asyncio.to_thread(session_folder, web.settings.home, session_id)


async def question_of(web: Web, session_id: str) -> str:
    """What a session asked; "" when there is none of this id that can be read."""
    with suppress(SessionError):
        return await asyncio.to_thread(read_question, web.settings.home, session_id)
    return ""


def read_question(home: Path, session_id: str) -> str:
    """What a session asked. Raises SessionNotFound, SessionUnreadable."""
    return read_metadata(session_folder(home, session_id)).query


async def page_of(web: Web, session_id: str, content_hash: str) -> tuple[str, list[Evidence]]:
    """The text of a page of a session, and the evidence on it. Raises SessionNotFound."""
    return await asyncio.to_thread(_page, await _folder_of(web, session_id), content_hash)


def _page(folder: Path, content_hash: str) -> tuple[str, list[Evidence]]:
    text = read_page(folder, content_hash)
    if text is None:
        raise SessionNotFound("This session has not read such a page.")
    return text, [e for e in read_ledger(folder) if e.content_hash == content_hash]

"""Watch a session run by workers, and forward the user's commands to it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.errors import SessionError, SessionNotFound, SettingsError
from spadework.events import VERSION, Ended, Event, Finished, read_event
from spadework.machines.session_lookup import copy_session
from spadework.machines.shared_limits import shared_sessions
from spadework.sessions import quotas
from spadework.sessions.brief import Brief
from spadework.sessions.record.records import begin_metadata
from spadework.sessions.storage.files import Metadata, make_folder, whole_result
from spadework.sessions.stream import start_event
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.values import Result

if TYPE_CHECKING:
    from spadework.machines.session_rows import SharedSessions
    from spadework.sessions.session import Session


Told = Callable[[str], None]


async def run_by_workers(
    session: Session, stop: asyncio.Event, answers: asyncio.Queue[str], notify: Told | None
) -> AsyncGenerator[Event, None]:
    """Submit a session to workers, and yield its events. The session continues if this iterator is
    closed. Raises SessionError.
    """
    settings, brief, folder = session.settings, session.brief, session.folder
    await quotas.check(settings)
    await asyncio.to_thread(make_folder, folder)
    known = await begin_metadata(folder, brief, settings, session.budget.limits)
    async with shared_sessions(settings) as shared:
        if result := await _known_result(shared, settings, session.session_id):
            yield start_event(folder.name, brief, result.mode, result.searched, resumed=True)
            yield Finished(result=result)
            return
        await submit(shared, settings, brief, known)
        seen = session.seen if session.seen is not None else await _ended(shared, folder.name)
        watched = watch(shared, settings, session.session_id, seen, notify or (lambda text: None))
        said = forward_answers(shared, session.session_id, stop, answers)
        async with said, aclosing(watched) as events:
            async for _, event in events:
                yield event
                if isinstance(event, Ended):
                    raise SessionError(event.text or "The session was cancelled.")


async def submit(shared: SharedSessions, settings: Settings, brief: Brief, known: Metadata) -> None:
    """Submit a session. Raises SettingsError if an attachment or earlier session is unavailable."""
    from spadework.machines.queue import Queue
    from spadework.machines.session_rows import New

    before = await shared.find(brief.follows) if brief.follows else None
    if brief.follows and (before is None or before.owner != settings.owner):
        raise SettingsError(
            f"Session {brief.follows[:80]} is only on this machine, so no worker can find it.",
            hint="To follow up on it, unset SPADEWORK_DATABASE_URL.",
        )
    paths = _named(brief.attachments)
    files = {name: await on_disk(_read, path) for name, path in paths.items()}
    fields = brief.as_json() | {"attachments": list(paths)}
    metadata = known.model_dump(mode="json") | {"attachments": list(paths)}
    # JSON escapes characters that PostgreSQL rejects.
    texts = (json.dumps(fields), json.dumps(metadata))
    await shared.submit(New(known.id, settings.owner, *texts, settings.user_runs), files)
    await Queue(shared.database).put(known.id)


def _named(attachments: tuple[str, ...]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for n, given in enumerate(attachments, 1):
        path = Path(given)
        name = path.name.lstrip(".")
        first = f"attachments/{name}"
        found[first if name and first not in found else f"attachments/{n}-{name}"] = path
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}.") from None


async def watch(
    shared: SharedSessions, settings: Settings, session_id: str, after: int, notify: Told
) -> AsyncGenerator[tuple[int, Event], None]:
    """Yield the events after number `after`, with their numbers, until the session ends. Before the
    result is yielded, copy the session's folder to this machine. `notify` receives the
    reason if the session waits. Raises DatabaseDown, or SessionNotFound if the session is deleted.
    """
    from spadework.machines.database import EVENTS
    from spadework.machines.session_rows import LIVE

    said = ""
    with shared.database.listening.heard(EVENTS, session_id) as changed:
        while True:
            state, lines = await shared.news(session_id, after)
            for number, line in lines:
                after, event = number, read_event(line.encode())
                if isinstance(event, Finished):
                    event = await _brought(shared, settings, session_id, event)
                yield number, event
                if isinstance(event, Finished | Ended):
                    return
            if not state:
                raise SessionNotFound(f"Session {session_id} was deleted.")
            if state not in LIVE:
                return
            if state == "waiting" and (why := await _why(shared, session_id)) != said:
                said = why
                notify(why)
            await changed()


@asynccontextmanager
async def forward_answers(
    shared: SharedSessions, session_id: str, stop: asyncio.Event, answers: asyncio.Queue[str]
) -> AsyncIterator[None]:
    """While the block runs, forward the user's answers and stop request to the run."""

    async def stopped() -> None:
        await stop.wait()
        await shared.signal(session_id, "stop")

    async def answered() -> None:
        while True:
            await shared.signal(session_id, "answer", json.dumps(await answers.get()))

    tasks = [asyncio.create_task(stopped()), asyncio.create_task(answered())]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _known_result(
    shared: SharedSessions, settings: Settings, session_id: str
) -> Result | None:
    kept = await shared.find(session_id)
    if kept is None or kept.state != "finished":
        return None
    return await on_disk(whole_result, await copy_session(shared, settings, kept))


async def _ended(shared: SharedSessions, session_id: str) -> int:
    numbered = await shared.events(session_id, 0)
    return max(
        (n for n, line in numbered if isinstance(read_event(line.encode()), Ended)), default=0
    )


async def cancel(session: Session) -> bool:
    """Cancel a session if workers run it. Return False if not: the caller must then cancel it."""
    if session.elsewhere:
        async with shared_sessions(session.settings) as shared:
            await shared.end(session.session_id, "cancelled", told_now(Ended(how="cancelled")))
    return session.elsewhere


def told_now(event: Event) -> str:
    """Return an event as a JSON line for the record, with the current time."""
    timed = event.model_copy(update={"v": VERSION, "at": datetime.now(UTC)})
    return timed.model_dump_json()


async def _brought(
    shared: SharedSessions, settings: Settings, session_id: str, event: Finished
) -> Finished:
    if (kept := await shared.find(session_id)) is None:
        return event
    folder = await copy_session(shared, settings, kept)
    result = event.result.model_copy(update={"session_dir": str(folder)})
    return event.model_copy(update={"result": result})


async def _why(shared: SharedSessions, session_id: str) -> str:
    workers, place, of, most_runs = await shared.place(session_id)
    if not workers:
        return "No worker is running. Run `spadework worker` on any machine that uses the database."
    return f"{quotas.why_waiting(most_runs)}. You are number {place} of {of} in the queue."

"""Submitting a session to the workers, and watching it from here: its events as they are told,
wherever it runs. What the user says meanwhile is told to the run.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.errors import SessionError, SessionNotFound, SettingsError
from spadework.events import VERSION, Ended, Event, Finished, read_event
from spadework.sessions.brief import Brief
from spadework.sessions.files import Metadata
from spadework.sessions.machines.bringing import bring
from spadework.sessions.machines.shared import owner_of, shared_sessions
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.session_rows import Kept, SharedSessions

#: Told what is waited for before a session runs.
Told = Callable[[str], None]


async def submit(shared: SharedSessions, settings: Settings, brief: Brief, known: Metadata) -> None:
    """Put a session where workers find it, with the files that were given along. Raises
    SettingsError where it follows one that they do not know, or a file cannot be read.
    """
    from spadework.tools.stores.postgres.queue import Queue

    if brief.follows and await shared.find(brief.follows) is None:
        raise SettingsError(
            f"Session {brief.follows[:80]} is on this machine alone, where no worker finds it.",
            hint="Ask without following it, or without SPADEWORK_DATABASE_URL.",
        )
    paths = _named(brief.attachments)
    files = {name: await on_disk(_read, path) for name, path in paths.items()}
    told = brief.told() | {"attachments": list(paths)}
    metadata = known.model_dump(mode="json") | {"attachments": list(paths)}
    # Text as JSON has it in ASCII: PostgreSQL takes no character that it does not know.
    await shared.submit(known.id, owner_of(settings), json.dumps(told), json.dumps(metadata), files)
    await Queue(shared.database).put(known.id)


async def watch(
    shared: SharedSessions, settings: Settings, session_id: str, after: int, told: Told
) -> AsyncGenerator[tuple[int, Event], None]:
    """The events of a session after number `after`, until it has a result or has ended without
    one; then its folder is here, too. `told` hears what is waited for. Raises DatabaseDown.
    """
    from spadework.tools.stores.postgres.session_rows import LIVE

    said = ""
    while True:
        kept = await shared.find(session_id)
        if kept is None:
            raise SessionNotFound(f"Session {session_id} was deleted.")
        for number, line in await shared.events(session_id, after):
            after, event = number, read_event(line.encode())
            if isinstance(event, Finished):
                event = await _brought(shared, settings, kept, event)
            yield number, event
            if isinstance(event, Finished | Ended):
                return
        if kept.state not in LIVE:
            return
        if kept.state == "waiting" and (why := await _why(shared, session_id)) != said:
            said = why
            told(why)
        await shared.database.listening.changed(session_id)


@asynccontextmanager
async def forwarding(
    shared: SharedSessions, session_id: str, stop: asyncio.Event, answers: asyncio.Queue[str]
) -> AsyncIterator[None]:
    """Tell the run what the user says here."""

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


async def cancel(settings: Settings, session_id: str) -> None:
    """End a session without a report, whoever runs it; it can be taken up again."""
    async with shared_sessions(settings) as shared:
        await shared.end(session_id, "cancelled", told_now(Ended(how="cancelled")))


def told_now(event: Event) -> str:
    """An event that happens now, as it stands in the record."""
    timed = event.model_copy(update={"v": VERSION, "at": datetime.now(UTC)})
    return timed.model_dump_json()


async def _brought(
    shared: SharedSessions, settings: Settings, kept: Kept, event: Finished
) -> Finished:
    folder = await bring(shared, settings, kept)
    result = event.result.model_copy(update={"session_dir": str(folder)})
    return event.model_copy(update={"result": result})


async def _why(shared: SharedSessions, session_id: str) -> str:
    if not await shared.workers():
        return "No worker runs: `spadework worker` starts one on any machine of the database."
    place, of = await shared.place(session_id)
    return f"Other questions are being researched: place {place} of {of} in the queue."


def _named(attachments: tuple[str, ...]) -> dict[str, Path]:
    """The files that are given along, by their paths in the folder of the session."""
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


def ended(event: Ended) -> SessionError:
    """How a run has ended that has no result, as an error."""
    return SessionError(event.text or "The session was cancelled.")

"""List the sessions of all machines, and find one by its id or by an answer that it gave."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from spadework.backend import MOST_LISTED
from spadework.errors import DiskFailed, SessionBusy, SessionError, SettingsError
from spadework.events import Finished, read_event
from spadework.machines.shared_limits import shared_sessions
from spadework.sessions.metrics.session_index import LOG, METADATA
from spadework.sessions.record.log import log_lines
from spadework.sessions.record.records import delete_session, redraw
from spadework.sessions.storage.files import JOURNAL, hold_session, make_folder, whole_result
from spadework.sessions.storage.session_list import list_sessions
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.private_files import is_session_id, write_atomically

if TYPE_CHECKING:
    from spadework.machines.session_rows import Kept, SharedSessions


#: Maximum seconds to wait for a session folder that is in use, and seconds between checks.
BUSY_SECONDS, LOOK_SECONDS = 15.0, 0.2
#: Maximum number of earlier sessions copied for a follow-up.
MOST_FOLLOWED = 6


async def copy_session(
    shared: SharedSessions, settings: Settings, kept: Kept, *, patient: bool = True
) -> Path:
    """Update the local copy of a session's folder, and return its path. If `patient`, wait up to
    BUSY_SECONDS while a run on this machine uses the folder.
    """
    folder = settings.home / "sessions" / kept.id
    until = asyncio.get_running_loop().time() + BUSY_SECONDS
    while True:
        try:
            new = await _fill(shared, folder, kept)
            break
        except SessionBusy:
            late = asyncio.get_running_loop().time() > until
            if late or not patient or (await on_disk(whole_result, folder)) is not None:
                return folder
        await asyncio.sleep(LOOK_SECONDS)
    if new:
        with suppress(SessionError):
            await asyncio.to_thread(redraw, folder, settings)
    return folder


async def bring_to_run(shared: SharedSessions, settings: Settings, kept: Kept) -> Path:
    """Copy a session, and the earlier sessions that it follows up on, to this machine. Return the
    session's folder. Raises SessionBusy.
    """
    follows: str = json.loads(kept.brief)["follows"]
    for _ in range(MOST_FOLLOWED):
        before = await shared.find(follows) if follows else None
        if before is None or before.owner != kept.owner:
            break
        await copy_session(shared, settings, before)
        follows = json.loads(before.brief)["follows"]
    folder = settings.home / "sessions" / kept.id
    await _fill(shared, folder, kept)
    return folder


async def _fill(shared: SharedSessions, folder: Path, kept: Kept) -> bool:
    """Add a session's missing files and events to `folder`. Return whether events were missing."""
    await on_disk(make_folder, folder)
    names = await shared.file_names(kept.id)
    missing = [name for name in names if _may_be(name) and not (folder / name).exists()]
    files = await shared.files(kept.id, missing)
    with hold_session(folder):
        for name, data in files.items():
            await on_disk(write_atomically, folder / name, data)
        if not (folder / METADATA).exists():
            await on_disk(write_atomically, folder / METADATA, metadata_at(folder, kept.metadata))
        told = await on_disk(_whole_lines, folder / LOG)
        events = await shared.events(kept.id, told)
        if events:
            lines = "".join(f"{_at(folder, line)}\n" for _, line in events)
            await on_disk(log_lines, folder, lines.encode())
        return bool(events)


def metadata_at(folder: Path, metadata: str) -> bytes:
    """Return a session's metadata, with its attachment paths placed inside `folder`."""
    known = json.loads(metadata)
    known["attachments"] = [str(folder / name) for name in known.get("attachments", [])]
    return json.dumps(known, indent=1).encode()


def _whole_lines(log: Path) -> int:
    try:
        data = log.read_bytes()
    except FileNotFoundError:
        return 0
    if not data.endswith(b"\n"):
        whole = data[: data.rfind(b"\n") + 1]
        write_atomically(log, whole)
    return data.count(b"\n")


def _at(folder: Path, line: str) -> str:
    if '"session_dir"' not in line:
        return line
    with suppress(ValidationError):
        event = read_event(line.encode())
        if isinstance(event, Finished):
            result = event.result.model_copy(update={"session_dir": str(folder)})
            return event.model_copy(update={"result": result}).model_dump_json()
    return line


def _may_be(name: str) -> bool:
    """Return whether a path is at most one folder deep, and no part of it begins with a dot."""
    parts = name.split("/")
    return len(parts) <= 2 and all(part and not part.startswith(".") for part in parts)


_NOTE = (
    "INSERT INTO answers SELECT owner, %s, id FROM sessions WHERE id = %s AND owner = %s"
    " ON CONFLICT (owner, hash) DO UPDATE SET session = excluded.session RETURNING session"
)
LIST_SECONDS = 3.0


async def find(settings: Settings, session_id: str) -> bool:
    """Copy a session to this machine, or only its metadata while it is live (waiting or running).
    Return whether the session is live. Raises SettingsError or DiskFailed.
    """
    if not is_session_id(session_id):
        return False
    async with shared_sessions(settings) as shared:
        kept = await shared.find(session_id)
        if kept is None:
            await drop(settings, await shared.deleted([session_id]))
        if kept is None or kept.owner != settings.owner:
            return False
        if kept.live:  # copying takes the folder's lock, which a local run may need
            await _know(settings, kept)
        else:
            await copy_session(shared, settings, kept, patient=False)
        return kept.live


async def bring_recording(settings: Settings, session_id: str) -> None:
    """Copy a finished session's journal to this machine. Raises SettingsError or DiskFailed."""
    path = settings.home / "sessions" / session_id / JOURNAL
    if await find(settings, session_id) or await on_disk(path.exists):
        return
    async with shared_sessions(settings) as shared:
        from spadework.machines.session_rows import copy_journal

        kept = await shared.find(session_id)
        if kept is not None and kept.owner == settings.owner and kept.state == "finished":
            await copy_journal(shared.database, session_id, path)


async def know_all(settings: Settings, most: int | None = MOST_LISTED) -> frozenset[str]:
    """Update the local session list, and return live sessions' ids (none if the database fails)."""
    with suppress(TimeoutError, SettingsError, DiskFailed):
        seconds = LIST_SECONDS if most else None
        async with asyncio.timeout(seconds), shared_sessions(settings) as shared:
            return await _as_everywhere(shared, settings, most)
    return frozenset()


async def _as_everywhere(
    shared: SharedSessions, settings: Settings, most: int | None
) -> frozenset[str]:
    from spadework.machines.session_rows import LIVE

    listed = await asyncio.to_thread(lambda: [*islice(list_sessions(settings.home), most)])
    here = {one.id: one.status for one in listed}
    await drop(settings, await shared.deleted([*here]))
    states = await shared.of_owner(settings.owner, most)
    for session_id, state in states.items():
        told = session_id in here and (here[session_id] or state != "finished")
        if not told and (kept := await shared.find(session_id)):
            await _know(settings, kept, renew=session_id in here)
    return frozenset(one for one, state in states.items() if state in LIVE)


async def forget(settings: Settings, session_id: str) -> None:
    """Delete a session and everything stored about it."""
    async with shared_sessions(settings) as shared:
        kept = await shared.find(session_id)
        if kept is not None and kept.owner == settings.owner:
            await shared.delete(session_id)


async def _know(settings: Settings, kept: Kept, *, renew: bool = False) -> None:
    folder = settings.home / "sessions" / kept.id
    if renew or not await on_disk((folder / METADATA).exists):
        await on_disk(make_folder, folder)
        await on_disk(write_atomically, folder / METADATA, metadata_at(folder, kept.metadata))


async def drop(settings: Settings, deleted: Sequence[str]) -> None:
    """Delete the local copies of deleted sessions, except those in use."""
    for session_id in deleted:
        with suppress(SessionError):
            await asyncio.to_thread(delete_session, settings.home, session_id)


async def note_answer(settings: Settings, known: str, session_id: str) -> bool:
    """Record which session gave the answer with this hash. Return whether the database has the
    session. Raises SettingsError or DiskFailed.
    """
    async with shared_sessions(settings) as shared:
        return bool(await shared.database.ask(_NOTE, (known, session_id, settings.owner)))


async def answered_by(settings: Settings, known: str) -> str:
    """Return the id of the user's session that gave the answer with the hash `known`, or "". Raises
    SettingsError or DiskFailed.
    """
    asked = "SELECT session FROM answers WHERE owner = %s AND hash = %s"
    async with shared_sessions(settings) as shared:
        rows = await shared.database.ask(asked, (settings.owner, known))
    return str(rows[0][0]) if rows else ""

"""Lookup of sessions submitted anywhere: by id, in a list, or by an answer they gave."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from spadework.backend import MOST_LISTED
from spadework.errors import DiskFailed, SessionError, SettingsError
from spadework.machines.session_copy import copy_session, metadata_at
from spadework.machines.shared import shared_sessions
from spadework.sessions.record.records import delete_session
from spadework.sessions.storage.files import make_folder
from spadework.sessions.storage.session_file import JOURNAL, METADATA
from spadework.sessions.storage.session_list import list_sessions
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.private_files import is_session_id

if TYPE_CHECKING:
    from spadework.machines.postgres.session_rows import Kept, SharedSessions


_NOTE = (
    "INSERT INTO answers SELECT owner, %s, id FROM sessions WHERE id = %s AND owner = %s"
    " ON CONFLICT (owner, hash) DO UPDATE SET session = excluded.session RETURNING session"
)
#: Seconds for the database to list the sessions.
LIST_SECONDS = 3.0


async def find(settings: Settings, session_id: str) -> bool:
    """Copy a worker's session here; return whether it is live. Raises SettingsError, DiskFailed."""
    if not is_session_id(session_id):
        return False
    async with shared_sessions(settings) as shared:
        kept = await shared.find(session_id)
        if kept is None:
            await drop(settings, await shared.deleted([session_id]))
        if kept is None or kept.owner != settings.owner:
            return False
        if kept.live:  # its runner may be local and need the folder's lock
            await _know(settings, kept)
        else:
            await copy_session(shared, settings, kept, patient=False)
        return kept.live


async def bring_recording(settings: Settings, session_id: str) -> None:
    """Copy the journal of a session that workers ended. Raises SettingsError, DiskFailed."""
    path = settings.home / "sessions" / session_id / JOURNAL
    if await find(settings, session_id) or await on_disk(path.exists):
        return
    async with shared_sessions(settings) as shared:
        from spadework.machines.postgres.journal_copy import copy_journal

        kept = await shared.find(session_id)
        if kept is not None and kept.owner == settings.owner and kept.state == "finished":
            await copy_journal(shared.database, session_id, path)


async def know_all(settings: Settings, most: int | None = MOST_LISTED) -> frozenset[str]:
    """Update the local list of sessions: a folder with metadata for each of the newest that workers
    know, none for deleted ones. Returns the ids of those waiting or running. If the database does
    not respond in time, the list is what this machine knows.
    """
    with suppress(TimeoutError, SettingsError, DiskFailed):
        seconds = LIST_SECONDS if most else None
        async with asyncio.timeout(seconds), shared_sessions(settings) as shared:
            return await _as_everywhere(shared, settings, most)
    return frozenset()


async def _as_everywhere(
    shared: SharedSessions, settings: Settings, most: int | None
) -> frozenset[str]:
    from spadework.machines.postgres.session_rows import LIVE

    listed = await asyncio.to_thread(lambda: [*islice(list_sessions(settings.home), most)])
    here = {one.id: one.status for one in listed}
    await drop(settings, await shared.deleted([*here]))
    states = await shared.of_owner(settings.owner, most)
    for session_id, state in states.items():
        told = session_id in here and (here[session_id] or state != "finished")
        if not told and (kept := await shared.find(session_id)):
            await _know(settings, kept, anew=session_id in here)
    return frozenset(one for one, state in states.items() if state in LIVE)


async def forget(settings: Settings, session_id: str) -> None:
    """Delete a session, with everything stored, from the workers' database."""
    async with shared_sessions(settings) as shared:
        kept = await shared.find(session_id)
        if kept is not None and kept.owner == settings.owner:
            await shared.delete(session_id)


async def _know(settings: Settings, kept: Kept, *, anew: bool = False) -> None:
    """Create a session's folder with its metadata; `anew` if it has ended since."""
    folder = settings.home / "sessions" / kept.id
    if anew or not await on_disk((folder / METADATA).exists):
        await on_disk(make_folder, folder)
        await on_disk(write_atomically, folder / METADATA, metadata_at(folder, kept.metadata))


async def drop(settings: Settings, deleted: Sequence[str]) -> None:
    """Delete local copies of sessions deleted elsewhere, unless still in use."""
    for session_id in deleted:
        with suppress(SessionError):
            await asyncio.to_thread(delete_session, settings.home, session_id)


async def note_answer(settings: Settings, known: str, session_id: str) -> bool:
    """Record which session gave an answer, by hash, if workers know the session; return whether
    they do. Raises SettingsError, DiskFailed.
    """
    async with shared_sessions(settings) as shared:
        return bool(await shared.database.ask(_NOTE, (known, session_id, settings.owner)))


async def answered_by(settings: Settings, known: str) -> str:
    """Return this owner's session that gave an answer, by hash, "" if unknown. Raises
    SettingsError, DiskFailed.
    """
    asked = "SELECT session FROM answers WHERE owner = %s AND hash = %s"
    async with shared_sessions(settings) as shared:
        rows = await shared.database.ask(asked, (settings.owner, known))
    return str(rows[0][0]) if rows else ""

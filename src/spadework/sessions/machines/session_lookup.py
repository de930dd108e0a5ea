"""Sessions that were submitted anywhere, found on this machine: looked at, in a list, or by an
answer that they gave.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING

from spadework.errors import DiskFailed, SessionError, SettingsError
from spadework.sessions.machines.session_copy import bring, metadata_at
from spadework.sessions.machines.shared import shared_sessions
from spadework.sessions.record.records import delete_session
from spadework.sessions.storage.files import make_folder
from spadework.sessions.storage.session_file import JOURNAL, METADATA
from spadework.sessions.storage.session_list import list_sessions
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.private_files import is_session_id

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.session_rows import Kept, SharedSessions


_NOTE = (
    "INSERT INTO answers SELECT owner, %s, id FROM sessions WHERE id = %s AND owner = %s"
    " ON CONFLICT (owner, hash) DO UPDATE SET session = excluded.session RETURNING session"
)
#: Sessions that are known in a list where nobody wants all, and the seconds that the database has
#: to name them.
MOST_LISTED, LIST_SECONDS = 200, 3.0


async def find(settings: Settings, session_id: str) -> bool:
    """Bring here a session of workers; whether it is live. Raises SettingsError, DiskFailed."""
    if settings.database_url is None or not is_session_id(session_id):
        return False
    async with shared_sessions(settings) as shared:
        kept = await shared.find(session_id)
        if kept is None:
            await drop(settings, await shared.deleted([session_id]))
        if kept is None or kept.owner != settings.owner:
            return False
        if kept.live:  # who runs it may do so here, and would find its folder held
            await _know(settings, kept)
        else:
            await bring(shared, settings, kept, patient=False)
        return kept.live


async def bring_recording(settings: Settings, session_id: str) -> None:
    """Have the journal here of a session that workers ended. Raises SettingsError, DiskFailed."""
    path = settings.home / "sessions" / session_id / JOURNAL
    if await find(settings, session_id) or await on_disk(path.exists):
        return
    async with shared_sessions(settings) as shared:
        from spadework.tools.stores.postgres.journal_copy import copy_journal

        kept = await shared.find(session_id)
        if kept is not None and kept.owner == settings.owner and kept.state == "finished":
            await copy_journal(shared.database, session_id, path)


async def know_all(settings: Settings, most: int | None = MOST_LISTED) -> frozenset[str]:
    """Have the list of sessions of this home as it is on every machine: a folder with its metadata
    for each of the newest that workers know, and none of those that were deleted. The ids of those
    that wait or run. Where the database does not tell in time, the list is what this machine knows.
    """
    if settings.database_url is None:
        return frozenset()
    with suppress(TimeoutError, SettingsError, DiskFailed):
        seconds = LIST_SECONDS if most else None
        async with asyncio.timeout(seconds), shared_sessions(settings) as shared:
            return await _as_everywhere(shared, settings, most)
    return frozenset()


async def _as_everywhere(
    shared: SharedSessions, settings: Settings, most: int | None
) -> frozenset[str]:
    from spadework.tools.stores.postgres.session_rows import LIVE

    listed = await asyncio.to_thread(lambda: [*islice(list_sessions(settings.home), most)])
    here = {one.id: one.status for one in listed}
    await drop(settings, await shared.deleted([*here]))
    states = await shared.of_owner(settings.owner, most)
    for session_id, state in states.items():
        told = session_id in here and (here[session_id] or state != "finished")
        if not told and (kept := await shared.find(session_id)):
            await _know(settings, kept, anew=session_id in here)
    return frozenset(one for one, state in states.items() if state in LIVE)


async def know(settings: Settings, session_id: str) -> None:
    """Have the folder of one session of this home with its metadata, where workers know it."""
    path = settings.home / "sessions" / session_id / METADATA
    if settings.database_url is None or await on_disk(path.exists):
        return
    async with shared_sessions(settings) as shared:
        kept = await shared.find(session_id)
        if kept is not None and kept.owner == settings.owner:
            await _know(settings, kept)


async def forget(settings: Settings, session_id: str) -> None:
    """Delete a session where workers know it, with all that is kept of it there."""
    if settings.database_url is None:
        return
    async with shared_sessions(settings) as shared:
        kept = await shared.find(session_id)
        if kept is not None and kept.owner == settings.owner:
            await shared.delete(session_id)


async def _know(settings: Settings, kept: Kept, *, anew: bool = False) -> None:
    """Have the folder of a session, with its metadata; `anew` where it has ended meanwhile."""
    folder = settings.home / "sessions" / kept.id
    if anew or not await on_disk((folder / METADATA).exists):
        await on_disk(make_folder, folder)
        await on_disk(write_atomically, folder / METADATA, metadata_at(folder, kept.metadata))


async def drop(settings: Settings, deleted: Sequence[str]) -> None:
    """Delete the copies here of sessions deleted elsewhere, but for those still worked on."""
    for session_id in deleted:
        with suppress(SessionError):
            await asyncio.to_thread(delete_session, settings.home, session_id)


async def note_answer(settings: Settings, known: str, session_id: str) -> bool:
    """Note which session gave an answer, by its hash, where workers know the session; whether they
    do. Raises SettingsError, DiskFailed.
    """
    if settings.database_url is None:
        return False
    async with shared_sessions(settings) as shared:
        return bool(await shared.database.ask(_NOTE, (known, session_id, settings.owner)))


async def answered_by(settings: Settings, known: str) -> str:
    """The session of this owner that gave an answer, by its hash, "" where none is known. Raises
    SettingsError, DiskFailed.
    """
    if settings.database_url is None:
        return ""
    asked = "SELECT session FROM answers WHERE owner = %s AND hash = %s"
    async with shared_sessions(settings) as shared:
        rows = await shared.database.ask(asked, (settings.owner, known))
    return str(rows[0][0]) if rows else ""

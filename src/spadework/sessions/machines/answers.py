"""Which session gave an answer, by its hash and for its owner alone, told to all servers."""

from __future__ import annotations

from spadework.sessions.machines.shared import shared_sessions
from spadework.settings import Settings

_NOTE = (
    "INSERT INTO answers SELECT owner, %s, id FROM sessions WHERE id = %s AND owner = %s"
    " ON CONFLICT (owner, hash) DO UPDATE SET session = excluded.session RETURNING session"
)


async def note_answer(settings: Settings, known: str, session_id: str) -> bool:
    """Note it where workers know the session; whether they do. Raises SettingsError, DiskFailed."""
    if settings.database_url is None:
        return False
    async with shared_sessions(settings) as shared:
        return bool(await shared.database.ask(_NOTE, (known, session_id, settings.owner)))


async def answered_by(settings: Settings, known: str) -> str:
    """The session, "" where none is known. Raises SettingsError, DiskFailed."""
    if settings.database_url is None:
        return ""
    asked = "SELECT session FROM answers WHERE owner = %s AND hash = %s"
    async with shared_sessions(settings) as shared:
        rows = await shared.database.ask(asked, (settings.owner, known))
    return str(rows[0][0]) if rows else ""

"""Delete old single-page sessions, which nobody will look for."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from spadework.errors import SessionError
from spadework.sessions.record.records import delete_session
from spadework.sessions.storage.session_list import readable_sessions
from spadework.tools.stores.disk import on_disk

PAGE_AGE = timedelta(days=30)


async def prune(home: Path, age: timedelta = PAGE_AGE) -> list[str]:
    """Delete unused single-page sessions older than `age`, and return their ids. Raises OSError if
    the home cannot be read.
    """
    return await on_disk(_prune_sessions, home, age)


def _prune_sessions(home: Path, age: timedelta) -> list[str]:
    before = datetime.now(UTC) - age
    gone = []
    for listed in readable_sessions(home):
        if listed.kind == "read" and listed.created_at < before:
            with suppress(SessionError, OSError):  # in use, or not our files
                delete_session(home, listed.id)
                gone.append(listed.id)
    return gone

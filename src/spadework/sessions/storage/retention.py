"""What nobody will look for again: sessions that have read a single page for a client."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from spadework.errors import SessionError
from spadework.sessions.record.records import delete_session
from spadework.sessions.storage.session_list import readable_sessions
from spadework.tools.stores.disk import on_disk

#: For so long the session of a single page is kept.
PAGE_AGE = timedelta(days=30)


async def prune(home: Path, age: timedelta = PAGE_AGE) -> list[str]:
    """Delete the sessions under `home` that have read a single page longer than `age` ago, except
    those that somebody works on; their ids. Raises OSError where the home cannot be read.
    """
    return await on_disk(_prune_sessions, home, age)


def _prune_sessions(home: Path, age: timedelta) -> list[str]:
    before = datetime.now(UTC) - age
    gone = []
    for listed in readable_sessions(home):
        if listed.kind == "read" and listed.created_at < before:
            with suppress(SessionError, OSError):  # it is busy, or its files are not ours
                delete_session(home, listed.id)
                gone.append(listed.id)
    return gone

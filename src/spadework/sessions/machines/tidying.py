"""A worker's disk: what was deleted by whatever process leaves it, too."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.sessions.machines.finding import drop
from spadework.sessions.people.people import People
from spadework.settings import Settings
from spadework.tools.stores.database_faults import DatabaseDown
from spadework.tools.stores.session_ids import is_session_id

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.session_rows import SharedSessions

#: Seconds between two looks.
LOOK_SECONDS = 600.0
_log = logging.getLogger(__name__)


async def keep_tidy(shared: SharedSessions, settings: Settings) -> None:
    """Tidy now and every now and then, as long as it is let."""
    while True:
        try:
            await tidy(shared, settings)
        except DatabaseDown as error:
            _log.warning("Copies of deleted sessions may be left: %s", error.strerror)
        await asyncio.sleep(LOOK_SECONDS)


async def tidy(shared: SharedSessions, settings: Settings) -> None:
    """Delete the copies here of deleted sessions, in everybody's home. Raises DatabaseDown."""
    people = People(settings)
    for name in await asyncio.to_thread(lambda: [*people.names()]):
        own = people.settings_of(name)
        names = await asyncio.to_thread(_names, own.home / "sessions")
        await drop(own, await shared.deleted(names))


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir() if is_session_id(path.name)]
    except OSError:
        return []

"""A worker: runs sessions that wait in the database until asked to stop; unfinished ones continue
elsewhere. It also removes deleted sessions from its disk.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.machines.running_one import run_one
from spadework.machines.session_lookup import drop
from spadework.machines.shared import shared_sessions
from spadework.sessions import admission
from spadework.sessions.people.people import People
from spadework.settings import Settings
from spadework.tools.stores.disk_faults import DatabaseDown
from spadework.tools.stores.private_files import is_session_id

if TYPE_CHECKING:
    from spadework.machines.postgres.session_rows import SharedSessions


#: Seconds between two checks for deleted sessions.
LOOK_SECONDS = 600.0
_log = logging.getLogger(__name__)


async def work(
    settings: Settings, most: int, ready: Callable[[str], None], told: asyncio.Event | None = None
) -> None:
    """Run at most `most` sessions at once until cancelled; running ones then continue elsewhere.
    Once `told` is set nothing new is taken, and runs may continue for `drain_seconds`. `ready` is
    called with the worker's name. Raises SettingsError without a usable database.
    """
    name = f"{socket.gethostname()}-{os.getpid()}"
    async with shared_sessions(settings) as shared:
        from spadework.machines.postgres.queue import Leaving, Queue

        def idle() -> int:  # sessions waiting for a user or for admission can do so elsewhere
            return admission.here().out + admission.here().queue_length

        leaving = Leaving(settings.drain_seconds, idle, told or asyncio.Event())

        async def run(session_id: str) -> None:
            await run_one(shared, settings, session_id, name)

        tidying = asyncio.create_task(keep_tidy(shared, settings))
        try:
            ready(f"{name} takes sessions from {shared.database.where}")
            await Queue(shared.database, run).work(name, most, leaving)
        finally:
            tidying.cancel()
            await asyncio.gather(tidying, return_exceptions=True)


async def keep_tidy(shared: SharedSessions, settings: Settings) -> None:
    """Tidy now and periodically, until cancelled."""
    while True:
        try:
            await tidy(shared, settings)
        except DatabaseDown as error:
            _log.warning("Copies of deleted sessions may be left: %s", error.strerror)
        await asyncio.sleep(LOOK_SECONDS)


async def tidy(shared: SharedSessions, settings: Settings) -> None:
    """Delete local copies of deleted sessions in all homes. Raises DatabaseDown."""
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

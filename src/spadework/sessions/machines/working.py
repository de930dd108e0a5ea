"""A worker: it takes sessions that wait in the database and runs them, until it is told to stop.
What it has not done then goes on elsewhere.
"""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable

from spadework.sessions import admission
from spadework.sessions.machines.running_one import run_one
from spadework.sessions.machines.shared import shared_sessions
from spadework.sessions.machines.tidying import keep_tidy
from spadework.settings import Settings


async def work(
    settings: Settings, most: int, ready: Callable[[str], None], told: asyncio.Event | None = None
) -> None:
    """Run at most so many sessions at once, until this is cancelled: what runs then goes on
    elsewhere at once. Once `told` is set nothing new is taken, and what runs may go on for
    `drain_seconds`. `ready` is told the name of the worker once it works. Raises SettingsError
    where there is no database that can be used.
    """
    name = f"{socket.gethostname()}-{os.getpid()}"
    async with shared_sessions(settings) as shared:
        from spadework.tools.stores.postgres.queue import Leaving, Queue

        leaving = Leaving(settings.drain_seconds, _idle, told or asyncio.Event())

        async def run(session_id: str) -> None:
            await run_one(shared, settings, session_id, name)

        tidying = asyncio.create_task(keep_tidy(shared, settings))
        try:
            ready(f"{name} takes sessions from {shared.database.where}")
            await Queue(shared.database, run).work(name, most, leaving)
        finally:
            tidying.cancel()
            await asyncio.gather(tidying, return_exceptions=True)


def _idle() -> int:
    """How many sessions wait here, for their user or for a place: they can do so elsewhere."""
    return admission.here().out + admission.here().waiting

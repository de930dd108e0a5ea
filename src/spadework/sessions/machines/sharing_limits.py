"""Sharing what providers, hosts and models allow with all machines, while a session runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from spadework.errors import SpadeworkError
from spadework.sessions.machines.shared import owner_of, shared_sessions
from spadework.settings import Settings
from spadework.tools.stores.shared_rooms import SHARED

#: So long a database that is not open yet has to answer; one that has not is left alone for a
#: while.
OPEN_SECONDS, AWAY_SECONDS = 3.0, 30.0
_away_until = 0.0
_log = logging.getLogger(__name__)


@asynccontextmanager
async def limits_shared(settings: Settings, session_id: str) -> AsyncIterator[None]:
    """Share the limits of all that is done within with those who name the same database. Where it
    cannot be had soon, the limits of the process alone count.
    """
    async with AsyncExitStack() as stack:
        if settings.database_url is not None and time.monotonic() > _away_until:
            await _share(stack, settings, session_id)
        yield


async def _share(stack: AsyncExitStack, settings: Settings, session_id: str) -> None:
    global _away_until
    entering = asyncio.create_task(stack.enter_async_context(shared_sessions(settings)))
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            shared = await asyncio.shield(entering)
    except (TimeoutError, SpadeworkError) as error:
        _away_until = time.monotonic() + AWAY_SECONDS
        _log.warning("Limits are those of this process alone: %s", error or "no database answers")
        return
    finally:
        if not entering.done():
            entering.cancel()
    from spadework.tools.stores.postgres.rooms import RoomsOf

    token = SHARED.set(RoomsOf(shared.database.rooms, owner_of(settings), session_id))
    stack.callback(SHARED.reset, token)

"""Sharing what providers, hosts and models allow with all machines, while a session runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from spadework.errors import SpadeworkError
from spadework.sessions.machines.shared import shared_sessions
from spadework.settings import Settings
from spadework.tools.stores.shared_rooms import SHARED

if TYPE_CHECKING:
    from spadework.tools.stores.postgres.database import Database

#: So long a database that is not open yet has to answer; one that has not is left alone for a
#: while.
OPEN_SECONDS, AWAY_SECONDS = 3.0, 30.0
_away_until = 0.0
_log = logging.getLogger(__name__)


@asynccontextmanager
async def limits_shared(settings: Settings, session_id: str) -> AsyncIterator[None]:
    """Share limits with all that use the database; where it is away, the process's own count."""
    async with database_soon(settings) as database:
        if database is None:
            yield
            return
        from spadework.tools.stores.postgres.rooms import Whose

        whose = Whose(settings.owner, session_id)
        token = SHARED.set(partial(database.rooms.place, whose))
        try:
            yield
        finally:
            with suppress(ValueError):  # a run that is dropped ends in another context
                SHARED.reset(token)


@asynccontextmanager
async def database_soon(settings: Settings) -> AsyncIterator[Database | None]:
    """The database of the settings; None where there is none, or it cannot be had soon."""
    async with AsyncExitStack() as stack:
        if settings.database_url is None or time.monotonic() < _away_until:
            yield None
        else:
            yield await _opened(stack, settings)


async def _opened(stack: AsyncExitStack, settings: Settings) -> Database | None:
    global _away_until
    opening = asyncio.create_task(stack.enter_async_context(shared_sessions(settings)))
    try:
        async with asyncio.timeout(OPEN_SECONDS):
            return (await asyncio.shield(opening)).database
    except (TimeoutError, SpadeworkError) as error:
        _away_until = time.monotonic() + AWAY_SECONDS
        said = str(error) or "the database does not answer"
        _log.warning("Limits are those of this process alone: %s", said)
        return None
    finally:
        opening.cancel()

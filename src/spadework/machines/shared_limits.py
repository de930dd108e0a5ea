"""Sharing of limits (providers, hosts, models) with all machines while a session runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from spadework.errors import SpadeworkError
from spadework.machines.shared import shared_sessions
from spadework.settings import Settings
from spadework.tools.stores.shared_rooms import SHARED

if TYPE_CHECKING:
    from spadework.machines.postgres.database import Database


#: Seconds for an unopened database to respond, and seconds it is then left alone.
OPEN_SECONDS, AWAY_SECONDS = 3.0, 30.0
_away_until = 0.0
_log = logging.getLogger(__name__)


@asynccontextmanager
async def limits_shared(settings: Settings, session_id: str) -> AsyncIterator[None]:
    """Share limits with all users of the database; if it is down, count per process."""
    async with database_soon(settings) as database:
        if database is None:
            yield
            return
        from spadework.machines.postgres.rooms import Whose

        whose = Whose(settings.owner, session_id)
        token = SHARED.set(partial(database.rooms.place, whose))
        try:
            yield
        finally:
            with suppress(ValueError):  # an abandoned run ends in another context
                SHARED.reset(token)


@asynccontextmanager
async def database_soon(settings: Settings) -> AsyncIterator[Database | None]:
    """Open the settings' database; None if not set or not available soon."""
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

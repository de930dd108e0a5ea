"""The database shared by several machines: one pool per process and event loop, every wait with a
deadline. A restarting server is waited for, so every statement may be sent twice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from psycopg import AsyncConnection, Error, InterfaceError, OperationalError
from psycopg.errors import QueryCanceled
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import SecretStr

from spadework.machines.postgres.address import (
    CONNECT_SECONDS,
    SCHEMA,
    STATEMENT_SECONDS,
    conninfo_of,
    unusable,
    where_is,
)
from spadework.machines.postgres.migration import migrate
from spadework.machines.postgres.notifications import Listening
from spadework.machines.postgres.rooms import PostgresRooms
from spadework.machines.postgres.timely_queries import AskingSoon
from spadework.tools.stores.disk_faults import DatabaseDown

T = TypeVar("T")
#: Total seconds to wait for a server that is down.
AWAY_SECONDS = 30.0
#: Seconds between two attempts; and until the pool waits for a caller before its next attempt,
#: since its own become ever rarer.
AGAIN_SECONDS, RECONNECT_SECONDS = 0.25, 3.0
#: Maximum connections of a process, without the listening one.
MOST_CONNECTIONS = 6


class Database:
    """The database at an address. Use `opened`, which shares one."""

    def __init__(self, url: str) -> None:
        self.conninfo = conninfo_of(url)
        #: The address without the password.
        self.where = where_is(url)
        self.pool = AsyncConnectionPool(
            self.conninfo,
            min_size=1,
            max_size=MOST_CONNECTIONS,
            timeout=CONNECT_SECONDS,
            reconnect_timeout=RECONNECT_SECONDS,
            open=False,
            kwargs={"autocommit": True},
        )
        self.listening = Listening(self.conninfo)
        self.soon = AskingSoon(self.ask_once)
        self.rooms = PostgresRooms(self)
        self._users = 0

    async def ask(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return a statement's rows, waiting for a server that is down. Raises DatabaseDown."""
        return await self.retry(partial(self.ask_once, statement, values))

    async def retry(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work()` returns, repeating it if the server is down.

        Raises DatabaseDown.
        """
        until = time.monotonic() + AWAY_SECONDS
        while True:
            try:
                return await work()
            except (Error, TimeoutError) as error:
                away = isinstance(error, OperationalError | InterfaceError | TimeoutError)
                slow = isinstance(error, QueryCanceled) or time.monotonic() + AGAIN_SECONDS > until
                if slow or not away:
                    raise DatabaseDown(self.where, error) from error
            await asyncio.sleep(AGAIN_SECONDS)

    async def ask_once(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return a statement's rows at once. Raises psycopg.Error, TimeoutError."""
        async with (
            asyncio.timeout(CONNECT_SECONDS + STATEMENT_SECONDS),
            self.pool.connection() as connection,
        ):
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    async def open(self) -> None:
        """Connect, and migrate the tables. Raises SettingsError if that fails."""
        # Failures are raised to the caller: the pool's log lines come ten per second.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        try:
            async with asyncio.timeout(2 * CONNECT_SECONDS):
                await (await AsyncConnection.connect(self.conninfo)).close()
            await asyncio.to_thread(migrate, self.conninfo, SCHEMA)
            await self.pool.open(wait=True, timeout=CONNECT_SECONDS)
        except (Error, PoolTimeout, TimeoutError) as error:
            await self.pool.close()
            raise unusable(self.where, error) from None
        self.listening.start()
        self.rooms.start()

    async def close(self) -> None:
        """Release all places and connections."""
        await self.rooms.close()
        await self.soon.close()
        await self.listening.close()
        await self.pool.close()


_open: dict[tuple[asyncio.AbstractEventLoop, str], Database] = {}
_opening: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}


@asynccontextmanager
async def opened(url: SecretStr) -> AsyncIterator[Database]:
    """Open the database, shared in this event loop; the last user closes it. Raises
    SettingsError.
    """
    loop, said = asyncio.get_running_loop(), url.get_secret_value()
    lock = _opening.setdefault(loop, asyncio.Lock())
    async with lock:
        if (database := _open.get((loop, said))) is None:
            database = Database(said)
            await database.open()
            _open[loop, said] = database
        database._users += 1
    try:
        yield database
    finally:
        database._users -= 1
        if not database._users:
            _open.pop((loop, said), None)
            _opening.pop(loop, None)
            await database.close()

"""Connect to the machines' database, with one pool per process and event loop. Every wait has a
deadline. Statements may be sent twice, since they are retried while the server restarts.
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
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import IdleInTransactionSessionTimeout, QueryCanceled
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import SecretStr

from spadework.errors import SettingsError
from spadework.machines.postgres.migration import migrate
from spadework.machines.postgres.notifications import Listening
from spadework.machines.postgres.rooms import AskingSoon, PostgresRooms
from spadework.tools.stores.disk_faults import DatabaseDown, why

CONNECT_SECONDS, STATEMENT_SECONDS = 5.0, 20.0
#: Maximum idle seconds in a transaction, so that a frozen process releases its locks.
OPEN_SECONDS = 20.0
SCHEMA = "spadework"
LOST = (OperationalError, InterfaceError, IdleInTransactionSessionTimeout, TimeoutError)


def conninfo_of(url: str) -> str:
    """Return libpq's connection string. Raises SettingsError for an invalid address."""
    try:
        given = conninfo_to_dict(url)
    except Error:
        given = {}
    if not url.startswith(("postgresql://", "postgres://")) or not given:
        raise SettingsError(
            "SPADEWORK_DATABASE_URL must be an address such as"
            " postgresql://user:password@host/name."
        )
    milliseconds, idle = int(STATEMENT_SECONDS * 1000), int(OPEN_SECONDS * 1000)
    limits = f"-c statement_timeout={milliseconds} -c idle_in_transaction_session_timeout={idle}"
    ours: dict[str, Any] = {
        "connect_timeout": int(CONNECT_SECONDS),
        "tcp_user_timeout": milliseconds,
        "application_name": "spadework",
        "options": f"-c search_path={SCHEMA} {limits}",
    }
    return make_conninfo(**{**given, **ours})


def where_is(url: str) -> str:
    """Return the address without credentials."""
    given = conninfo_to_dict(url)
    host = given.get("host") or given.get("hostaddr") or "this machine"
    port = f":{given['port']}" if given.get("port") else ""
    return f"{given.get('dbname', '')!s} on {host}{port}"


def unusable(where: str, error: Exception) -> SettingsError:
    """Return the error for an unusable database."""
    return SettingsError(
        f"The database {where} cannot be used: {why(error)}.",
        hint="Check SPADEWORK_DATABASE_URL, or unset it to work without a database.",
    )


T = TypeVar("T")
#: Maximum wait for a server that is down.
AWAY_SECONDS = 30.0
AGAIN_SECONDS = 0.25
#: Seconds until the pool stops reconnecting. The next caller then makes it try again, instead of
#: waiting for ever rarer attempts.
RECONNECT_SECONDS = 3.0
#: Not counting the listening connection.
MOST_CONNECTIONS = 6


class Database:
    """The database at an address. Use `opened` to share it."""

    def __init__(self, url: str) -> None:
        self.conninfo = conninfo_of(url)
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
        """Return a statement's rows, retrying while the server is down. Raises DatabaseDown."""
        return await self.retry(partial(self.ask_once, statement, values))

    async def retry(self, work: Callable[[], Awaitable[T]]) -> T:
        """Repeat `work()` while the server is down, and return its result. Raises DatabaseDown."""
        until = time.monotonic() + AWAY_SECONDS
        while True:
            try:
                return await work()
            except (Error, TimeoutError) as error:
                slow = isinstance(error, QueryCanceled) or time.monotonic() + AGAIN_SECONDS > until
                if slow or not isinstance(error, LOST):
                    raise DatabaseDown(self.where, error) from error
            await asyncio.sleep(AGAIN_SECONDS)

    async def ask_once(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return a statement's rows without retrying. Raises psycopg.Error or TimeoutError."""
        async with (
            asyncio.timeout(CONNECT_SECONDS + STATEMENT_SECONDS),
            self.pool.connection() as connection,
        ):
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    async def open(self) -> None:
        """Connect and migrate the tables. Raises SettingsError on failure."""
        # The pool would log ten failures per second.
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
        """Release all slots and connections."""
        await self.rooms.close()
        await self.soon.close()
        await self.listening.close()
        await self.pool.close()


_open: dict[tuple[asyncio.AbstractEventLoop, str], Database] = {}
_opening: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}


@asynccontextmanager
async def opened(url: SecretStr) -> AsyncIterator[Database]:
    """Open the database. It is shared in this event loop, and its last user closes it. Raises
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

"""The database that several machines share: one pool a process and event loop, and no wait without
a deadline.

A server that is away for a moment, since it is restarted, is waited for; so every statement is one
that may be asked twice.
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
from psycopg.errors import QueryCanceled
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import SecretStr

from spadework.errors import SettingsError
from spadework.tools.stores.database_faults import DatabaseDown, why
from spadework.tools.stores.postgres.asking_soon import AskingSoon
from spadework.tools.stores.postgres.listening import Listening
from spadework.tools.stores.postgres.migrating import migrate
from spadework.tools.stores.postgres.rooms import PostgresRooms

T = TypeVar("T")

#: Seconds for a connection, for one statement, and in all for a server that is away.
CONNECT_SECONDS, STATEMENT_SECONDS, AWAY_SECONDS = 5.0, 20.0, 30.0
#: Seconds between two tries; and after which the pool waits for who asks before it tries again,
#: since its own tries become ever rarer.
AGAIN_SECONDS, RECONNECT_SECONDS = 0.25, 3.0
#: Connections of a process at most, beside the one that listens.
MOST_CONNECTIONS = 6
#: The schema in which all tables are.
SCHEMA = "spadework"


class Database:
    """The database at an address. Use `opened`, which shares one among all who want the same."""

    def __init__(self, url: str) -> None:
        self.conninfo = _conninfo(url)
        #: The address without the password, as it may be shown.
        self.where = _where(url)
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
        """The rows that a statement gives, also where the server is away for a while. Raises
        DatabaseDown.
        """
        return await self.again(partial(self.ask_once, statement, values))

    async def again(self, work: Callable[[], Awaitable[T]]) -> T:
        """What `work()` gives, which may be done twice, also where the server is away for a while.
        Raises DatabaseDown.
        """
        until = time.monotonic() + AWAY_SECONDS
        while True:
            try:
                return await work()
            except (OperationalError, InterfaceError, TimeoutError) as error:
                slow = isinstance(error, QueryCanceled)
                if slow or time.monotonic() + AGAIN_SECONDS > until:
                    raise DatabaseDown(self.where, error) from error
            except Error as error:
                raise DatabaseDown(self.where, error) from error
            await asyncio.sleep(AGAIN_SECONDS)

    async def ask_once(self, statement: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows that a statement gives, where the server is there. Raises psycopg.Error,
        TimeoutError.
        """
        async with (
            asyncio.timeout(CONNECT_SECONDS + STATEMENT_SECONDS),
            self.pool.connection() as connection,
        ):
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    async def open(self) -> None:
        """Connect, and bring the tables up to date. Raises SettingsError where that cannot be."""
        # What it cannot do is raised to who asks, in a sentence: its own lines come ten a second.
        logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
        try:
            async with asyncio.timeout(2 * CONNECT_SECONDS):
                await (await AsyncConnection.connect(self.conninfo)).close()
            await asyncio.to_thread(migrate, self.conninfo, SCHEMA)
            await self.pool.open(wait=True, timeout=CONNECT_SECONDS)
        except (Error, PoolTimeout, TimeoutError) as error:
            await self.pool.close()
            raise SettingsError(
                f"The database {self.where} cannot be used: {why(error)}.",
                hint="SPADEWORK_DATABASE_URL names it; unset, everything stays on this machine.",
            ) from None
        self.listening.start()
        self.rooms.start()

    async def close(self) -> None:
        """Give back all places and connections."""
        await self.rooms.close()
        await self.soon.close()
        await self.listening.close()
        await self.pool.close()


_open: dict[tuple[asyncio.AbstractEventLoop, str], Database] = {}
_opening: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}


@asynccontextmanager
async def opened(url: SecretStr) -> AsyncIterator[Database]:
    """The database at an address, for all in this event loop who want it at the same time; the last
    one closes it. Raises SettingsError where it cannot be used.
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


def _conninfo(url: str) -> str:
    """What libpq is told. Raises SettingsError."""
    try:
        given = conninfo_to_dict(url)
    except Error:
        given = {}
    if not url.startswith(("postgresql://", "postgres://")) or not given:
        raise SettingsError(
            "SPADEWORK_DATABASE_URL must be an address such as"
            " postgresql://user:password@host/name."
        )
    milliseconds = int(STATEMENT_SECONDS * 1000)
    ours: dict[str, Any] = {
        "connect_timeout": int(CONNECT_SECONDS),
        "tcp_user_timeout": milliseconds,
        "application_name": "spadework",
        "options": f"-c search_path={SCHEMA} -c statement_timeout={milliseconds}",
    }
    return make_conninfo(**{**given, **ours})


def _where(url: str) -> str:
    given = conninfo_to_dict(url)
    host = given.get("host") or given.get("hostaddr") or "on this machine"
    port = f":{given['port']}" if given.get("port") else ""
    return f"{given.get('dbname', '')!s} at {host}{port}"

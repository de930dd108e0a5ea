"""Connect to the database that the machines share, with one pool per process and event loop.
Statements are retried while the server restarts, so a statement can be sent twice.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any, NamedTuple, TypeVar

from psycopg import AsyncConnection, Connection, Error, InterfaceError, OperationalError, sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.errors import IdleInTransactionSessionTimeout, QueryCanceled
from psycopg.rows import TupleRow
from psycopg_pool import AsyncConnectionPool, PoolTimeout
from pydantic import SecretStr

from spadework.errors import SettingsError
from spadework.machines.migration import migrate
from spadework.machines.rooms import PLACES, AskingSoon, PostgresRooms
from spadework.tools.stores.private_files import DatabaseDown, why

CONNECT_SECONDS, STATEMENT_SECONDS = 5.0, 20.0
#: Transactions that are idle for more than this many seconds are ended, so that a frozen process
#: releases its locks.
OPEN_SECONDS = 20.0
#: A worker is live if its last heartbeat is at most this many seconds old.
ALIVE_SECONDS = 30
SCHEMA = "spadework"
LOST = (OperationalError, InterfaceError, IdleInTransactionSessionTimeout, TimeoutError)
#: PostgreSQL notification channels for a session's watchers and for the worker that runs it. The
#: payload is the session id.
EVENTS, SIGNALS = "spadework_events", "spadework_signals"
#: Seconds between polls of the database, and seconds to wait after an error before listening again.
LOOK_SECONDS, LISTEN_AGAIN_SECONDS = 2.0, 1.0
_LIST_NEWS = (
    "SELECT name, version, rows FROM lists"
    " WHERE version IS DISTINCT FROM (%s::jsonb ->> name)::bigint"
)
_BEGIN_LIST = "INSERT INTO lists VALUES (%s, 0, '[]') ON CONFLICT DO NOTHING"
_HOLD_LIST = "SELECT rows FROM lists WHERE name = %s FOR UPDATE"
_KEEP_LIST = "UPDATE lists SET version = version + 1, rows = %s WHERE name = %s"
_SERVER_STATE = (
    "SELECT current_setting('server_version_num')::integer, current_setting('server_version'),"
    " current_setting('max_connections')::integer"
    " - current_setting('superuser_reserved_connections')::integer,"
    " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),"
    " to_regclass('migrations') IS NOT NULL"
)
_LAST_MIGRATION = "SELECT coalesce(max(version_num), '') FROM migrations"
_WORKER_COUNTS = (
    "SELECT (SELECT count(*) FROM procrastinate_workers"
    " WHERE last_heartbeat > now() - make_interval(secs => %s)),"
    " count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'running')"
    " FROM sessions WHERE state IN ('waiting', 'running')"
)


def conninfo_of(url: str) -> str:
    """Return the libpq connection string for a URL. Raises SettingsError if the URL is invalid."""
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
    """Return the name and host of the database, without credentials."""
    given = conninfo_to_dict(url)
    host = given.get("host") or given.get("hostaddr") or "this machine"
    port = f":{given['port']}" if given.get("port") else ""
    return f"{given.get('dbname', '')!s} on {host}{port}"


def unusable(where: str, error: Exception) -> SettingsError:
    """Return a SettingsError that says why the database `where` cannot be used."""
    return SettingsError(
        f"The database {where} cannot be used: {why(error)}.",
        hint="Check SPADEWORK_DATABASE_URL, or unset it to work without a database.",
    )


T = TypeVar("T")
#: Maximum seconds to wait for a database server that is down.
AWAY_SECONDS = 30.0
AGAIN_SECONDS = 0.25
#: The connection pool stops trying to reconnect after this many seconds, instead of retrying less
#: and less often. It tries again when a connection is next requested.
RECONNECT_SECONDS = 3.0
#: Maximum number of connections in the pool, besides the listening connection.
MOST_CONNECTIONS = 6


class Database:
    """A database and its connection pool. Call `opened` to share an instance."""

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
        """Execute a statement and return its rows, retrying in outages. Raises DatabaseDown."""
        return await self.retry(partial(self.ask_once, statement, values))

    async def retry(self, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `work()`, repeated during outages. Raises DatabaseDown."""
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
        """Execute a statement once and return its rows. Raises psycopg.Error or TimeoutError."""
        async with (
            asyncio.timeout(CONNECT_SECONDS + STATEMENT_SECONDS),
            self.pool.connection() as connection,
        ):
            cursor = await connection.execute(statement.encode(), values)
            return await cursor.fetchall() if cursor.description else []

    async def open(self) -> None:
        """Connect and migrate the tables. Raises SettingsError on failure."""
        # Without a connection, the pool would log ten failures per second.
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
        """Give up this process's slots for shared resources, and close all connections."""
        await self.rooms.close()
        await self.soon.close()
        await self.listening.close()
        await self.pool.close()


_open: dict[tuple[asyncio.AbstractEventLoop, str], Database] = {}
_opening: dict[asyncio.AbstractEventLoop, asyncio.Lock] = {}


@asynccontextmanager
async def opened(url: SecretStr) -> AsyncIterator[Database]:
    """Open the database, which all callers in this event loop share. Raises SettingsError."""
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


class Listening:
    """A process's LISTEN connection. Lost notifications do no harm, because waiters also poll."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = conninfo
        self._task: asyncio.Task[None] | None = None
        self._waiting: defaultdict[tuple[str, str], list[asyncio.Event]] = defaultdict(list)
        self._receivers: dict[str, Callable[[str], None]] = {}

    def start(self) -> None:
        """Start listening."""
        self._task = asyncio.create_task(self._listen())

    async def close(self) -> None:
        """Stop listening."""
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def tell(self, channel: str, receive: Callable[[str], None]) -> None:
        """Call `receive` with the payload of each notification on a channel."""
        self._receivers[channel] = receive

    @contextmanager
    def heard(self, channel: str, session_id: str) -> Iterator[Callable[[], Awaitable[None]]]:
        """Yield a function to wait up to LOOK_SECONDS for a new notification about the session."""
        notified, key = asyncio.Event(), (channel, session_id)

        async def changed() -> None:
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await notified.wait()
            notified.clear()

        self._waiting[key].append(notified)
        try:
            yield changed
        finally:
            self._waiting[key].remove(notified)
            if not self._waiting[key]:
                del self._waiting[key]

    async def _listen(self) -> None:
        while True:
            with suppress(Error, OSError):  # waiters poll while there is no connection
                async with await AsyncConnection.connect(
                    self._conninfo, autocommit=True
                ) as connection:
                    for name in (EVENTS, SIGNALS, PLACES):
                        await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(name)))
                    async for note in connection.notifies():
                        if every := self._receivers.get(note.channel):
                            every(note.payload)
                        for waiting in self._waiting.get((note.channel, note.payload), ()):
                            waiting.set()
            await asyncio.sleep(LISTEN_AGAIN_SECONDS)


class Changing:
    """A list's rows as JSON, locked while they are being changed."""

    def __init__(self, rows: str) -> None:
        self.rows = rows


async def list_news(database: Database, known: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return the version and rows of lists newer than in `known`, by name. Raises DatabaseDown."""
    rows = await database.ask(_LIST_NEWS, (json.dumps(known),))
    return {name: (version, held) for name, version, held in rows}


def read_list(url: str, name: str) -> tuple[int, str]:
    """Return a list's version (0 if never changed) and rows. Raises SettingsError."""
    with _connected(url) as connection:
        asked = "SELECT version, rows FROM lists WHERE name = %s"
        version, rows = connection.execute(asked, (name,)).fetchone() or (0, "[]")
        return int(version), str(rows)


@contextmanager
def changed_list(url: str, name: str) -> Iterator[Changing]:
    """Yield a list's rows for editing, then store them. Raises SettingsError."""
    with _connected(url) as connection:
        connection.execute(_BEGIN_LIST, (name,))
        with connection.transaction():
            [rows] = connection.execute(_HOLD_LIST, (name,)).fetchone() or ("[]",)
            yield (held := Changing(str(rows)))
            connection.execute(_KEEP_LIST, (held.rows, name))


@contextmanager
def _connected(url: str) -> Iterator[Connection[TupleRow]]:
    conninfo = conninfo_of(url)
    try:
        migrate(conninfo, SCHEMA)
        with Connection.connect(conninfo, autocommit=True) as connection:
            yield connection
    except Error as error:
        raise unusable(where_is(url), error) from None


class Looked(NamedTuple):
    """The state of a database.
    - `where`: its name and host; `number`: the `version` as a number.
    - `most`, `free`: connections allowed and available.
    - `tables`: the last migration ("" if none).
    - `workers`: number of live workers; `waiting`, `running`: numbers of sessions.
    - `seconds`: how long the inspection took.
    """

    where: str
    number: int
    version: str
    most: int
    free: int
    tables: str
    workers: int
    waiting: int
    running: int
    seconds: float


async def look_at(url: str) -> Looked:
    """Return a database's state. Raises SettingsError if it cannot be queried."""
    began = time.monotonic()
    try:
        async with (
            asyncio.timeout(2 * CONNECT_SECONDS),
            await AsyncConnection.connect(conninfo_of(url), autocommit=True) as connection,
        ):
            number, version, most, used, begun = await _row(connection, _SERVER_STATE)
            tables = (await _row(connection, _LAST_MIGRATION))[0] if begun else ""
            workers, waiting, running = (
                await _row(connection, _WORKER_COUNTS, ALIVE_SECONDS) if tables else (0, 0, 0)
            )
    except (Error, TimeoutError) as error:
        raise unusable(where_is(url), error) from None
    server = (where_is(url), number, version, most, max(0, most - used))
    return Looked(*server, tables, workers, waiting, running, time.monotonic() - began)


async def _row(connection: AsyncConnection[Any], asked: str, *values: Any) -> tuple[Any, ...]:
    cursor = await connection.execute(asked.encode(), values)
    return await cursor.fetchone() or ()

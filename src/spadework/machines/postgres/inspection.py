"""Inspect a database without changing it."""

from __future__ import annotations

import asyncio
import time
from typing import Any, NamedTuple

from psycopg import AsyncConnection, Error

from spadework.machines.postgres.database import CONNECT_SECONDS, conninfo_of, unusable, where_is
from spadework.machines.postgres.session_rows import ALIVE_SECONDS

_SERVER = (
    "SELECT current_setting('server_version_num')::integer, current_setting('server_version'),"
    " current_setting('max_connections')::integer"
    " - current_setting('superuser_reserved_connections')::integer,"
    " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),"
    " to_regclass('migrations') IS NOT NULL"
)
_TABLES = "SELECT coalesce(max(version_num), '') FROM migrations"
_WORKERS = (
    "SELECT (SELECT count(*) FROM procrastinate_workers"
    " WHERE last_heartbeat > now() - make_interval(secs => %s)),"
    " count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'running')"
    " FROM sessions WHERE state IN ('waiting', 'running')"
)


class Looked(NamedTuple):
    """The state of a database. `where` is its address without the password, `number` is the
    `version` as a number, `most` and `free` are the connections allowed and available, `tables` is
    the last migration ("" if none), `workers` counts live workers, `waiting` and `running` count
    sessions, and `seconds` is how long the inspection took.
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
    """Return the state of a database. Raises SettingsError if it cannot be queried."""
    began = time.monotonic()
    try:
        async with (
            asyncio.timeout(2 * CONNECT_SECONDS),
            await AsyncConnection.connect(conninfo_of(url), autocommit=True) as connection,
        ):
            number, version, most, used, begun = await _row(connection, _SERVER)
            tables = (await _row(connection, _TABLES))[0] if begun else ""
            workers, waiting, running = (
                await _row(connection, _WORKERS, ALIVE_SECONDS) if tables else (0, 0, 0)
            )
    except (Error, TimeoutError) as error:
        raise unusable(where_is(url), error) from None
    server = (where_is(url), number, version, most, max(0, most - used))
    return Looked(*server, tables, workers, waiting, running, time.monotonic() - began)


async def _row(connection: AsyncConnection[Any], asked: str, *values: Any) -> tuple[Any, ...]:
    cursor = await connection.execute(asked.encode(), values)
    return await cursor.fetchone() or ()

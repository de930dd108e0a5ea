"""Short lists shared by all servers, one row each, read by every request: readers only fetch
changes; writers wait, on a connection of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from psycopg import Connection, Error
from psycopg.rows import TupleRow

from spadework.machines.postgres.address import SCHEMA, conninfo_of, unusable, where_is
from spadework.machines.postgres.database import Database
from spadework.machines.postgres.migration import migrate

#: Lists whose version differs from the known one.
_NEWS = (
    "SELECT name, version, rows FROM lists"
    " WHERE version IS DISTINCT FROM (%s::jsonb ->> name)::bigint"
)
_BEGIN = "INSERT INTO lists VALUES (%s, 0, '[]') ON CONFLICT DO NOTHING"
_HOLD = "SELECT rows FROM lists WHERE name = %s FOR UPDATE"
_KEEP = "UPDATE lists SET version = version + 1, rows = %s WHERE name = %s"


class Changing:
    """The rows of a list, as JSON, locked for changing."""

    def __init__(self, rows: str) -> None:
        self.rows = rows


async def list_news(database: Database, known: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return changed lists by name (version, rows), given `known` versions. Raises DatabaseDown."""
    rows = await database.ask(_NEWS, (json.dumps(known),))
    return {name: (version, held) for name, version, held in rows}


def read_list(url: str, name: str) -> tuple[int, str]:
    """Return version and rows of a list; 0 if it was never changed. Raises SettingsError."""
    with _connected(url) as connection:
        asked = "SELECT version, rows FROM lists WHERE name = %s"
        version, rows = connection.execute(asked, (name,)).fetchone() or (0, "[]")
        return int(version), str(rows)


@contextmanager
def changed_list(url: str, name: str) -> Iterator[Changing]:
    """Yield the rows of a list, stored as they are at the end. Raises SettingsError."""
    with _connected(url) as connection:
        connection.execute(_BEGIN, (name,))
        with connection.transaction():
            [rows] = connection.execute(_HOLD, (name,)).fetchone() or ("[]",)
            yield (held := Changing(str(rows)))
            connection.execute(_KEEP, (held.rows, name))


@contextmanager
def _connected(url: str) -> Iterator[Connection[TupleRow]]:
    conninfo = conninfo_of(url)
    try:
        migrate(conninfo, SCHEMA)
        with Connection.connect(conninfo, autocommit=True) as connection:
            yield connection
    except Error as error:
        raise unusable(where_is(url), error) from None

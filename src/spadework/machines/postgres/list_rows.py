"""Store the short lists that all servers read for every request. Readers fetch only changed lists.
Writers wait, on connections of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from psycopg import Connection, Error
from psycopg.rows import TupleRow

from spadework.machines.postgres.database import SCHEMA, Database, conninfo_of, unusable, where_is
from spadework.machines.postgres.migration import migrate

_NEWS = (
    "SELECT name, version, rows FROM lists"
    " WHERE version IS DISTINCT FROM (%s::jsonb ->> name)::bigint"
)
_BEGIN = "INSERT INTO lists VALUES (%s, 0, '[]') ON CONFLICT DO NOTHING"
_HOLD = "SELECT rows FROM lists WHERE name = %s FOR UPDATE"
_KEEP = "UPDATE lists SET version = version + 1, rows = %s WHERE name = %s"


class Changing:
    """A list's rows as JSON, locked for a change."""

    def __init__(self, rows: str) -> None:
        self.rows = rows


async def list_news(database: Database, known: Mapping[str, int]) -> dict[str, tuple[int, str]]:
    """Return the lists that changed since the `known` versions, by name. Raises DatabaseDown."""
    rows = await database.ask(_NEWS, (json.dumps(known),))
    return {name: (version, held) for name, version, held in rows}


def read_list(url: str, name: str) -> tuple[int, str]:
    """Return a list's version (0 if it was never changed) and rows. Raises SettingsError."""
    with _connected(url) as connection:
        asked = "SELECT version, rows FROM lists WHERE name = %s"
        version, rows = connection.execute(asked, (name,)).fetchone() or (0, "[]")
        return int(version), str(rows)


@contextmanager
def changed_list(url: str, name: str) -> Iterator[Changing]:
    """Yield a list's rows for editing, then store them. Raises SettingsError."""
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

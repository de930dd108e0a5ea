"""The address of the database: what libpq is told of it, and what may be shown."""

from __future__ import annotations

from typing import Any

from psycopg import Error
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from spadework.errors import SettingsError
from spadework.tools.stores.disk_faults import why

#: Seconds for a connection, and for one statement.
CONNECT_SECONDS, STATEMENT_SECONDS = 5.0, 20.0
#: The schema in which all tables are.
SCHEMA = "spadework"


def conninfo_of(url: str) -> str:
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


def where_is(url: str) -> str:
    """The address without the password, as it may be shown."""
    given = conninfo_to_dict(url)
    host = given.get("host") or given.get("hostaddr") or "on this machine"
    port = f":{given['port']}" if given.get("port") else ""
    return f"{given.get('dbname', '')!s} at {host}{port}"


def unusable(where: str, error: Exception) -> SettingsError:
    """What is said of a database that cannot be used."""
    return SettingsError(
        f"The database {where} cannot be used: {why(error)}.",
        hint="SPADEWORK_DATABASE_URL names it; unset, everything stays on this machine.",
    )

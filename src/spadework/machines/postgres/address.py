"""The database's address: connection parameters, and a form safe to show."""

from __future__ import annotations

from typing import Any

from psycopg import Error
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from spadework.errors import SettingsError
from spadework.tools.stores.disk_faults import why

#: Seconds for a connection, and for one statement.
CONNECT_SECONDS, STATEMENT_SECONDS = 5.0, 20.0
SCHEMA = "spadework"


def conninfo_of(url: str) -> str:
    """Return libpq's connection string. Raises SettingsError."""
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
    """Return the address without the password."""
    given = conninfo_to_dict(url)
    host = given.get("host") or given.get("hostaddr") or "on this machine"
    port = f":{given['port']}" if given.get("port") else ""
    return f"{given.get('dbname', '')!s} at {host}{port}"


def unusable(where: str, error: Exception) -> SettingsError:
    """Return the error for an unusable database."""
    return SettingsError(
        f"The database {where} cannot be used: {why(error)}.",
        hint="SPADEWORK_DATABASE_URL names it; unset, everything stays on this machine.",
    )

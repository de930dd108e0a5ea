"""Faults of the database in a few words: they end the run, and nothing gathered is lost."""

from __future__ import annotations

import errno
import re

#: Characters that are shown of what a server says.
MOST_CHARS = 200
#: What psycopg and libpq put before it.
_BEFORE = re.compile(
    r"^(?:(?:connection (?:failed|is bad)|connection to server at .*? failed|FATAL|ERROR): +)+"
)


class DatabaseDown(OSError):
    """The database has not done what it was asked."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(errno.EIO, f"the database {where} cannot be used: {why(error)}")


class ClaimLost(OSError):
    """Another process runs the session by now, or it was cancelled."""

    def __init__(self, session_id: str) -> None:
        super().__init__(errno.EBUSY, f"another worker has taken session {session_id} over")


def why(error: Exception) -> str:
    """What an error of the database says, in one line."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    first = str(error).strip().partition("\n")[0]
    return _BEFORE.sub("", first).rstrip(" .")[:MOST_CHARS] or type(error).__name__

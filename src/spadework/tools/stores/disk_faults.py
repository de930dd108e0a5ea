"""Faults of the disk and of a database, in words."""

from __future__ import annotations

import errno
import re
import sqlite3

#: File errors; others concern connections or the process.
_OF_FILES = frozenset(
    code
    for name in (
        *("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "ESTALE", "ENXIO", "ENODEV", "EBUSY"),
        *("ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ENOTEMPTY", "EACCES", "EPERM"),
        *("ENAMETOOLONG", "ELOOP", "EMLINK", "EINVAL"),
    )
    if (code := getattr(errno, name, None)) is not None  # Windows has no quotas
)
NO_SPACE, IO_ERROR = "no space left on the disk", "the disk cannot be read or written"
#: SQLite result codes for which the disk is to blame.
_OF_SQLITE = {
    sqlite3.SQLITE_FULL: NO_SPACE,
    sqlite3.SQLITE_IOERR: IO_ERROR,
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "no permission",
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_LOCKED: "another program holds it",
}
#: The primary result code is the lowest byte.
_KIND = 0xFF


def disk_fault(error: BaseException | None) -> OSError | sqlite3.Error | None:
    """Return the file or SQLite error that this is or contains; None for another kind."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := disk_fault(one))), None)
    if isinstance(error, sqlite3.Error):
        return error
    return error if isinstance(error, OSError) and error.errno in _OF_FILES else None


def said_of(fault: OSError | sqlite3.Error) -> str:
    """Describe the disk fault briefly; "" if the file is to blame: missing or damaged."""
    if isinstance(fault, sqlite3.Error):
        return _OF_SQLITE.get(getattr(fault, "sqlite_errorcode", 0) & _KIND, "")
    said = fault.strerror or str(fault) or type(fault).__name__
    return said[:1].lower() + said[1:]


#: Maximum characters quoted from a server.
MOST_CHARS = 200
#: Prefixes by psycopg and libpq.
_BEFORE = re.compile(
    r"^(?:(?:connection (?:failed|is bad)|connection to server at .*? failed|FATAL|ERROR): +)+"
)


class DatabaseDown(OSError):
    """The database has not done what it was asked."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(errno.EIO, f"the database {where} cannot be used: {why(error)}")


class ClaimLost(OSError):
    """Another process runs the session now, or it was cancelled."""

    def __init__(self, session_id: str) -> None:
        super().__init__(errno.EBUSY, f"another worker has taken session {session_id} over")


def why(error: Exception) -> str:
    """Return a database error on one line."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    first = str(error).strip().partition("\n")[0]
    return _BEFORE.sub("", first).rstrip(" .")[:MOST_CHARS] or type(error).__name__

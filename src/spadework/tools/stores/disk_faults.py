"""Describe faults of files and databases."""

from __future__ import annotations

import errno
import re
import sqlite3

#: Error codes of files. Other OSErrors concern connections or processes.
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
_OF_SQLITE = {
    sqlite3.SQLITE_FULL: NO_SPACE,
    sqlite3.SQLITE_IOERR: IO_ERROR,
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "permission denied",
    sqlite3.SQLITE_BUSY: "another program has it open",
    sqlite3.SQLITE_LOCKED: "another program has it open",
}
#: Mask of SQLite's primary result code.
_KIND = 0xFF


def disk_fault(error: BaseException | None) -> OSError | sqlite3.Error | None:
    """Return the file or SQLite error that `error` is or contains, or None."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := disk_fault(one))), None)
    if isinstance(error, sqlite3.Error):
        return error
    return error if isinstance(error, OSError) and error.errno in _OF_FILES else None


def said_of(fault: OSError | sqlite3.Error) -> str:
    """Describe a disk fault. Returns "" if the file itself is missing or damaged."""
    if isinstance(fault, sqlite3.Error):
        return _OF_SQLITE.get(getattr(fault, "sqlite_errorcode", 0) & _KIND, "")
    said = fault.strerror or str(fault) or type(fault).__name__
    return said[:1].lower() + said[1:]


MOST_CHARS = 200
#: Prefixes of messages from psycopg and libpq.
_BEFORE = re.compile(
    r"^(?:(?:connection (?:failed|is bad)|connection to server at .*? failed|FATAL|ERROR): +)+"
)


class DatabaseDown(OSError):
    """The database cannot be used."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(errno.EIO, f"the database {where} cannot be used: {why(error)}")


class ClaimLost(OSError):
    """Another process has taken the session over, or the session was cancelled."""

    def __init__(self, session_id: str) -> None:
        super().__init__(errno.EBUSY, f"another worker has taken over session {session_id}")


def why(error: Exception) -> str:
    """Return a database error's message as one short line."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    first = str(error).strip().partition("\n")[0]
    return _BEFORE.sub("", first).rstrip(" .")[:MOST_CHARS] or type(error).__name__

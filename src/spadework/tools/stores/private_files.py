"""Create private files and folders, and describe disk faults."""

from __future__ import annotations

import errno
import os
import re
import secrets
import sqlite3
from contextlib import suppress
from pathlib import Path

_OTHERS = 0o077


def make_folder(folder: Path) -> None:
    """Create a folder and its missing parents, accessible only to the current user."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(mode=0o700, exist_ok=True)
    if not missing and not folder.is_dir():
        folder.mkdir()  # raises FileExistsError, because a file has this path


def private_folder(folder: Path) -> None:
    """Create a private folder, or make an existing one private."""
    make_folder(folder)
    _close(folder)


def private_file(path: Path) -> None:
    """Create a private file, or make an existing one private."""
    make_folder(path.parent)
    os.close(os.open(path, os.O_CREAT | os.O_RDONLY | getattr(os, "O_CLOEXEC", 0), 0o600))
    _close(path)


def close_files(folder: Path) -> None:
    """Make all files in a folder private."""
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # replaced in the meantime
            _close(path)


def _close(path: Path) -> None:
    mode = path.stat().st_mode
    if mode & _OTHERS:
        with suppress(PermissionError):  # the file belongs to another user
            path.chmod(mode & 0o777 & ~_OTHERS)


def is_session_id(text: str) -> bool:
    """Return whether a text has the form of a session id, which can never be a path."""
    return re.fullmatch(r"[A-Za-z0-9][\w-]{0,99}", text, re.ASCII) is not None


#: Flags for opening a file. They prevent line-ending conversion on Windows, and keep child
#: processes from inheriting the file.
_AS_IT_IS = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def write_atomically(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Write a file atomically, and create missing parent folders. The file's permissions are `mode`
    minus the umask. By default, only the owner has access.
    """
    make_folder(path.parent)
    draft = path.with_name(f".{secrets.token_hex(8)}.draft")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _AS_IT_IS, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise


NO_SPACE, IO_ERROR = "no space left on the disk", "the disk cannot be read or written"
#: Error codes that concern files, not connections or processes.
_OF_FILES = frozenset(
    code
    for name in (
        *("ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EIO", "ESTALE", "ENXIO", "ENODEV", "EBUSY"),
        *("ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ENOTEMPTY", "EACCES", "EPERM"),
        *("ENAMETOOLONG", "ELOOP", "EMLINK", "EINVAL"),
    )
    if (code := getattr(errno, name, None)) is not None  # not every platform has all codes
)


_OF_SQLITE = {
    sqlite3.SQLITE_FULL: NO_SPACE,
    sqlite3.SQLITE_IOERR: IO_ERROR,
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "permission denied",
    sqlite3.SQLITE_BUSY: "another program has it open",
    sqlite3.SQLITE_LOCKED: "another program has it open",
}


#: Bit mask that extracts the primary result code from an SQLite error code.
_KIND = 0xFF


def disk_fault(error: BaseException | None) -> OSError | sqlite3.Error | None:
    """Return the error, or the first one in a group, that concerns files or SQLite, else None."""
    if isinstance(error, BaseExceptionGroup):
        return next((found for one in error.exceptions if (found := disk_fault(one))), None)
    if isinstance(error, sqlite3.Error):
        return error
    return error if isinstance(error, OSError) and error.errno in _OF_FILES else None


def said_of(fault: OSError | sqlite3.Error) -> str:
    """Describe a disk fault. Returns "" for SQLite errors about the file's content."""
    if isinstance(fault, sqlite3.Error):
        return _OF_SQLITE.get(getattr(fault, "sqlite_errorcode", 0) & _KIND, "")
    said = fault.strerror or str(fault) or type(fault).__name__
    return said[:1].lower() + said[1:]


MOST_CHARS = 200


#: Prefixes to remove from psycopg and libpq error messages.
_BEFORE = re.compile(
    r"^(?:(?:connection (?:failed|is bad)|connection to server at .*? failed|FATAL|ERROR): +)+"
)


class DatabaseDown(OSError):
    """The database cannot be used."""

    def __init__(self, where: str, error: Exception) -> None:
        super().__init__(errno.EIO, f"the database {where} cannot be used: {why(error)}")


class ClaimLost(OSError):
    """Another process took over the session, or the session was cancelled."""

    def __init__(self, session_id: str) -> None:
        super().__init__(errno.EBUSY, f"another worker has taken over session {session_id}")


def why(error: Exception) -> str:
    """Return a database error's message as one short line."""
    if isinstance(error, TimeoutError):
        return "it took too long"
    first = str(error).strip().partition("\n")[0]
    return _BEFORE.sub("", first).rstrip(" .")[:MOST_CHARS] or type(error).__name__

"""Faults of the disk under a session, each told in one sentence: it is full, read-only or gone, or
a file is no longer what it was. What was gathered stays, and the session can be taken up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from spadework.errors import DiskFailed, SessionError, SessionUnreadable
from spadework.graph.stopping import DiskStopped
from spadework.sessions.kept import JOURNAL, METADATA, REPAIR
from spadework.tools.disk import disk_fault

#: What SQLite says, by its result code, where the disk is to blame.
_DISK = {
    sqlite3.SQLITE_FULL: "no space left on the disk",
    sqlite3.SQLITE_IOERR: "the disk cannot be read or written",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
    sqlite3.SQLITE_PERM: "no permission",
    sqlite3.SQLITE_BUSY: "another program holds it",
    sqlite3.SQLITE_LOCKED: "another program holds it",
}
#: Bytes below which a disk is full for a database.
LEAST_FREE = 65_536
#: The kind of error is in the lowest byte of the code; the rest says more of it.
_KIND = 0xFF


@contextmanager
def disk_faults(folder: Path) -> Iterator[None]:
    """Raises DiskFailed or SessionUnreadable where the system or SQLite fails at the files of the
    session in `folder`.
    """
    try:
        yield
    except (OSError, sqlite3.Error, ExceptionGroup, DiskStopped) as error:
        fault = disk_fault(error.__cause__ if isinstance(error, DiskStopped) else error)
        if fault is None:
            raise
        raise _told(folder, fault) from error


def _told(folder: Path, fault: OSError | sqlite3.Error) -> SessionError:
    code = getattr(fault, "sqlite_errorcode", 0) & _KIND
    if isinstance(fault, sqlite3.Error) and code not in _DISK:
        said = " ".join(str(fault).split())[:150]
        return SessionUnreadable(
            f"Session {folder.name} cannot be read: {JOURNAL}: {said}.", hint=REPAIR
        )
    why = _DISK[code] if isinstance(fault, sqlite3.Error) else _of_the_system(fault)
    name = JOURNAL if isinstance(fault, sqlite3.Error) else _name(fault)
    if code == sqlite3.SQLITE_IOERR and _is_full(folder):
        why = _DISK[sqlite3.SQLITE_FULL]  # which SQLite cannot tell from a broken disk
    if (folder / METADATA).is_file():
        return DiskFailed(
            f"Session {folder.name} cannot go on: {name}: {why}. What it has gathered stays.",
            hint=f"`spadework resume {folder.name}` goes on when that is mended.",
        )
    if isinstance(fault, FileNotFoundError):
        return DiskFailed(
            f"Session {folder.name} cannot go on: its folder {folder} was removed, or is out of"
            " reach.",
            hint=f"Where it comes back, `spadework resume {folder.name}` goes on.",
        )
    return DiskFailed(
        f"The session cannot begin in {folder}: {why}.", hint="Choose another place with --home."
    )


def _is_full(folder: Path) -> bool:
    try:
        return psutil.disk_usage(str(folder)).free < LEAST_FREE
    except OSError:
        return False


def _of_the_system(fault: OSError) -> str:
    said = fault.strerror or str(fault) or type(fault).__name__
    return said[:1].lower() + said[1:]


def _name(fault: OSError) -> str:
    """The file that a fault is about, as far as it is known; a draft is the session's own."""
    name = Path(str(fault.filename)).name if fault.filename else ""
    return "its files" if not name or name.endswith(".draft") else name[:100]

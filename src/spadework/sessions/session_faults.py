"""Faults of the disk under a session, each told in one sentence: it is full, read-only or gone, or
a file is no longer what it was. What was gathered stays, and the session can be taken up.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

from spadework.errors import DiskFailed, SessionError
from spadework.graph.stopping import DiskStopped
from spadework.sessions.file_names import JOURNAL, METADATA
from spadework.sessions.session_file import unreadable
from spadework.tools.stores.disk_faults import (
    IO_ERROR,
    NO_SPACE,
    ClaimLost,
    DatabaseDown,
    disk_fault,
    said_of,
)

#: Bytes below which a disk is full for a database.
LEAST_FREE = 65_536


@contextmanager
def disk_faults(folder: Path) -> Iterator[None]:
    """Raises DiskFailed or SessionUnreadable where the system or SQLite fails at a session."""
    try:
        yield
    except (OSError, sqlite3.Error, ExceptionGroup, DiskStopped) as error:
        fault = disk_fault(error.__cause__ if isinstance(error, DiskStopped) else error)
        if fault is None:
            raise
        raise _explain_fault(folder, fault) from error


def _explain_fault(folder: Path, fault: OSError | sqlite3.Error) -> SessionError:
    why, name = said_of(fault), folder.name
    mended = f"`spadework resume {name}` goes on when that is mended."
    if isinstance(fault, DatabaseDown | ClaimLost):
        said = f"Session {name} cannot go on: {why}. What it has gathered stays."
        return DiskFailed(said, hint=mended)
    if not why:
        return unreadable(folder, JOURNAL, " ".join(str(fault).split())[:150])
    file = JOURNAL if isinstance(fault, sqlite3.Error) else _name(fault)
    if why == IO_ERROR and _is_full(folder):
        why = NO_SPACE  # which SQLite cannot tell from a broken disk
    if (folder / METADATA).is_file():
        said = f"Session {name} cannot go on: {file}: {why}. What it has gathered stays."
        return DiskFailed(said, hint=mended)
    if isinstance(fault, FileNotFoundError):
        said = f"Session {name} cannot go on: its folder {folder} was removed, or is out of reach."
        return DiskFailed(said, hint=f"Where it comes back, `spadework resume {name}` goes on.")
    return DiskFailed(
        f"The session cannot begin in {folder}: {why}.", hint="Choose another place with --home."
    )


def _is_full(folder: Path) -> bool:
    try:
        return psutil.disk_usage(str(folder)).free < LEAST_FREE
    except OSError:
        return False


def _name(fault: OSError) -> str:
    """The file that a fault is about, as far as it is known; a draft is the session's own."""
    name = Path(str(fault.filename)).name if fault.filename else ""
    return "its files" if not name or name.endswith(".draft") else name[:100]

"""Faults and delays of the disk under a session, each reported in one sentence."""

from __future__ import annotations

import asyncio
import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ParamSpec

import psutil

from spadework.errors import DiskFailed, SessionError
from spadework.graph.run_end import DiskStopped
from spadework.sessions.storage.session_file import JOURNAL, METADATA, unreadable
from spadework.tools.stores.disk import DiskHangs, on_disk
from spadework.tools.stores.disk_faults import (
    IO_ERROR,
    NO_SPACE,
    ClaimLost,
    DatabaseDown,
    disk_fault,
    said_of,
)

P = ParamSpec("P")
#: Share of the remaining time to wait for a file; maximum and minimum seconds: on a busy machine
#: even a sound disk takes more than half a second.
SHARE, MOST_SECONDS, LEAST_SECONDS = 0.1, 5.0, 1.0


class Late:
    """The files of a session that were not written in time. After the first, nothing is written
    until a retry, since each would wait again. `left` returns the run's remaining seconds.
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self.left: Callable[[], float] = lambda: math.inf
        self._hangs = False
        self._untold: list[str] = []
        self._known: set[str] = set()

    @property
    def seconds(self) -> float:
        """Seconds to wait for a file now; 0 if the disk does not respond."""
        return 0.0 if self._hangs else max(LEAST_SECONDS, min(MOST_SECONDS, SHARE * self.left()))

    def hangs(self, name: str) -> None:
        """Record a file that does not respond: nothing more is written."""
        if not self._hangs and name not in self._known:
            self._known.add(name)
            self._untold.append(name)
        self._hangs = True

    def try_again(self) -> None:
        """Allow writing again: the machine may have been busy rather than the disk broken."""
        self._hangs = False

    def sentences(self) -> list[str]:
        """Return one sentence for each file not written in time, once."""
        untold, self._untold = self._untold, []
        return [
            f"{name} could not be written: the disk does not answer. No more is written of this"
            f" session; when it answers, `spadework resume {self._session_id}` writes it anew."
            for name in untold
        ]

    async def write(
        self, name: str, work: Callable[P, object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Run `work`, which writes a file, in a file thread, while the disk responds."""
        if not (seconds := self.seconds):
            return
        try:
            async with asyncio.timeout(seconds):
                await on_disk(work, *args, **kwargs)
        except (TimeoutError, DiskHangs):
            self.hangs(name)


#: Free bytes below which a disk is full for a database.
LEAST_FREE = 65_536


@contextmanager
def disk_faults(folder: Path) -> Iterator[None]:
    """Raise DiskFailed or SessionUnreadable if the system or SQLite fails at a session."""
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
        why = NO_SPACE  # which SQLite cannot distinguish from a broken disk
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
    """Return the file concerned by a fault, if known; a draft belongs to the session."""
    name = Path(str(fault.filename)).name if fault.filename else ""
    return "its files" if not name or name.endswith(".draft") else name[:100]

"""Handle slow and failing disks while a session runs."""

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
from spadework.graph.finish import DiskStopped
from spadework.sessions.metrics.session_index import METADATA
from spadework.sessions.storage.files import JOURNAL, unreadable
from spadework.tools.stores.disk import DiskHangs, on_disk
from spadework.tools.stores.private_files import (
    IO_ERROR,
    NO_SPACE,
    ClaimLost,
    DatabaseDown,
    disk_fault,
    said_of,
)

P = ParamSpec("P")
#: Wait for one file for at most this fraction of the run's remaining time.
SHARE = 0.1
MOST_SECONDS = 5.0
#: Minimum seconds to wait for a file operation. Half a second is too short on a busy machine.
LEAST_SECONDS = 1.0


class Late:
    """Writes a session's files. If a file takes too long to write, nothing more is written until
    `try_again` is called. `left` returns the run's remaining seconds.
    """

    def __init__(self, session_id: str) -> None:
        self._session_id = session_id
        self.left: Callable[[], float] = lambda: math.inf
        self._hangs = False
        self._untold: list[str] = []
        self._known: set[str] = set()

    @property
    def seconds(self) -> float:
        """Seconds to wait for a file operation, or 0 if the disk hangs."""
        return 0.0 if self._hangs else max(LEAST_SECONDS, min(MOST_SECONDS, SHARE * self.left()))

    def hangs(self, name: str) -> None:
        """Record that a file could not be written, and stop writing."""
        if not self._hangs and name not in self._known:
            self._known.add(name)
            self._untold.append(name)
        self._hangs = True

    def try_again(self) -> None:
        """Allow writing again, in case the machine was only busy."""
        self._hangs = False

    def sentences(self) -> list[str]:
        """Return a message for each file that could not be written in time, each only once."""
        untold, self._untold = self._untold, []
        return [
            f"{name} could not be written because the disk does not answer. Nothing more of this"
            f" session is stored. Once the disk answers, run `spadework resume"
            f" {self._session_id}` to store the session again."
            for name in untold
        ]

    async def write(
        self, name: str, work: Callable[P, object], *args: P.args, **kwargs: P.kwargs
    ) -> None:
        """Write the file `name` by calling `work`, unless the disk hangs."""
        if not (seconds := self.seconds):
            return
        try:
            async with asyncio.timeout(seconds):
                await on_disk(work, *args, **kwargs)
        except (TimeoutError, DiskHangs):
            self.hangs(name)


#: A disk with fewer free bytes than this counts as full.
LEAST_FREE = 65_536


@contextmanager
def disk_faults(folder: Path) -> Iterator[None]:
    """Convert system and SQLite errors to DiskFailed or SessionUnreadable."""
    try:
        yield
    except (OSError, sqlite3.Error, ExceptionGroup, DiskStopped) as error:
        fault = disk_fault(error.__cause__ if isinstance(error, DiskStopped) else error)
        if fault is None:
            raise
        raise _explain_fault(folder, fault) from error


def _explain_fault(folder: Path, fault: OSError | sqlite3.Error) -> SessionError:
    why, name = said_of(fault), folder.name
    mended = f"Fix the problem, then run `spadework resume {name}`."
    if isinstance(fault, DatabaseDown | ClaimLost):
        said = f"Session {name} cannot continue: {why}. Everything gathered is kept."
        return DiskFailed(said, hint=mended)
    if not why:
        return unreadable(folder, JOURNAL, " ".join(str(fault).split())[:150])
    file = JOURNAL if isinstance(fault, sqlite3.Error) else _name(fault)
    if why == IO_ERROR and _is_full(folder):
        why = NO_SPACE  # SQLite reports a full disk as an I/O error
    if (folder / METADATA).is_file():
        said = f"Session {name} cannot continue: {file}: {why}. Everything gathered is kept."
        return DiskFailed(said, hint=mended)
    if isinstance(fault, FileNotFoundError):
        said = (
            f"Session {name} cannot continue: its folder {folder} was removed or cannot be reached."
        )
        return DiskFailed(said, hint=f"Once the folder is back, run `spadework resume {name}`.")
    return DiskFailed(
        f"The session cannot start in {folder}: {why}.", hint="Choose another folder with --home."
    )


def _is_full(folder: Path) -> bool:
    try:
        return psutil.disk_usage(str(folder)).free < LEAST_FREE
    except OSError:
        return False


def _name(fault: OSError) -> str:
    name = Path(str(fault.filename)).name if fault.filename else ""
    return "its files" if not name or name.endswith(".draft") else name[:100]

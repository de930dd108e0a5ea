"""Capacity of the process for sessions: open files, connections and threads, counted against the
system's limits; and returning memory afterwards.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

#: Estimated maximum of a session: its files and connections to pages, search and model; its
#: threads.
DESCRIPTORS, THREADS = 40, 6
#: Reserve for the rest of the process, such as watchers of a server.
SPARE_DESCRIPTORS, SPARE_THREADS = 96, 48

_PIDS = Path("/sys/fs/cgroup/pids.max")


@dataclass
class Stock:
    """A limited system resource; `limit` returns None if unknown."""

    each: int
    spare: int
    limit: Callable[[], int | None]
    used: Callable[[], int]
    _before: int = field(default=0, init=False)

    def empty(self) -> None:
        """Record the process's own usage while no session runs."""
        self._before = self.used()

    def fits(self, inside: int) -> bool:
        """Return whether another session fits with those `inside`.

        New ones have yet to take their share.
        """
        limit = self.limit()
        expected = max(self.used(), self._before + inside * self.each)
        return limit is None or expected + self.each + self.spare <= limit


def open_files() -> int:
    """Return the open descriptors of the process; 0 if unknown."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(list(Path(folder).iterdir()))
    return 0


def most_files() -> int | None:
    """Return the limit on open descriptors."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def most_threads() -> int | None:
    """Return the thread limit of the process's control group, such as a container's."""
    with suppress(OSError, ValueError):
        return int(_PIDS.read_text())
    return None


_STOCKS = (
    Stock(DESCRIPTORS, SPARE_DESCRIPTORS, most_files, open_files),
    Stock(THREADS, SPARE_THREADS, most_threads, threading.active_count),
)


def give_back() -> None:
    """Return unused memory to the system: glibc keeps what pages of a run have left, a third of the
    process after fifty runs. Other systems need no help.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def fits(inside: int) -> bool:
    """Return whether another session fits; the first one always does."""
    if not inside:
        for stock in _STOCKS:
            stock.empty()
        return True
    return all(stock.fits(inside) for stock in _STOCKS)

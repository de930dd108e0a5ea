"""Check whether the system's limits on open files and threads allow another session."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

DESCRIPTORS, THREADS = 40, 6
#: Reserve for the rest of the process, such as watchers.
SPARE_DESCRIPTORS, SPARE_THREADS = 96, 48

_PIDS = Path("/sys/fs/cgroup/pids.max")


@dataclass
class Stock:
    """A limited system resource. `limit` returns None if unknown."""

    each: int
    spare: int
    limit: Callable[[], int | None]
    used: Callable[[], int]
    _before: int = field(default=0, init=False)

    def empty(self) -> None:
        """Record the usage while no session runs."""
        self._before = self.used()

    def fits(self, inside: int) -> bool:
        """Return whether another session fits beside `inside` running ones at full use."""
        limit = self.limit()
        expected = max(self.used(), self._before + inside * self.each)
        return limit is None or expected + self.each + self.spare <= limit


def open_files() -> int:
    """Return the number of open file descriptors (0 if unknown)."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(list(Path(folder).iterdir()))
    return 0


def most_files() -> int | None:
    """Return the maximum number of open file descriptors, or None if unlimited."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def most_threads() -> int | None:
    """Return the control group's thread limit, or None if unknown."""
    with suppress(OSError, ValueError):
        return int(_PIDS.read_text())
    return None


_STOCKS = (
    Stock(DESCRIPTORS, SPARE_DESCRIPTORS, most_files, open_files),
    Stock(THREADS, SPARE_THREADS, most_threads, threading.active_count),
)


def give_back() -> None:
    """Return unused memory to the system. After fifty runs, glibc retains a third of the process's
    memory.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def fits(inside: int) -> bool:
    """Return whether another session fits beside `inside` running ones. The first always does."""
    if not inside:
        for stock in _STOCKS:
            stock.empty()
        return True
    return all(stock.fits(inside) for stock in _STOCKS)

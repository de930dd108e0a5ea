"""How many sessions the process has room for: files and connections that may be open, and threads
that may be started, are counted against the system's limits; and what it gives back after them.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

#: What a session takes at most, reckoned: its files, its connections to pages, search and model.
DESCRIPTORS, THREADS = 40, 6
#: What is left for the rest of the process, such as those who watch a server.
SPARE_DESCRIPTORS, SPARE_THREADS = 96, 48

_PIDS = Path("/sys/fs/cgroup/pids.max")


@dataclass
class Stock:
    """Something of which the system gives only so much; `limit` is None where none is known."""

    each: int
    spare: int
    limit: Callable[[], int | None]
    used: Callable[[], int]
    _before: int = field(default=0, init=False)

    def empty(self) -> None:
        """Nobody is inside now: what is used is the process's own."""
        self._before = self.used()

    def fits(self, inside: int) -> bool:
        """Whether one more session has what it may take, beside so many that are `inside`.

        Those that have just come in have yet to take what is theirs.
        """
        limit = self.limit()
        expected = max(self.used(), self._before + inside * self.each)
        return limit is None or expected + self.each + self.spare <= limit


def open_files() -> int:
    """Descriptors that the process holds; 0 where the system does not say."""
    for folder in ("/proc/self/fd", "/dev/fd"):
        with suppress(OSError):
            return len(list(Path(folder).iterdir()))
    return 0


def most_files() -> int | None:
    """Descriptors that the process may hold."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return None
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return None if soft == resource.RLIM_INFINITY else soft


def most_threads() -> int | None:
    """Threads that the control group of the process may have, such as that of a container."""
    with suppress(OSError, ValueError):
        return int(_PIDS.read_text())
    return None


_STOCKS = (
    Stock(DESCRIPTORS, SPARE_DESCRIPTORS, most_files, open_files),
    Stock(THREADS, SPARE_THREADS, most_threads, threading.active_count),
)


def give_back() -> None:
    """Hand the system the memory that nothing holds any more: glibc keeps the holes that a run's
    pages have left, a third of the process after fifty runs. Other systems do so by themselves.
    """
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def fits(inside: int) -> bool:
    """Whether the process has room for one more session beside those inside; one it always has."""
    if not inside:
        for stock in _STOCKS:
            stock.empty()
        return True
    return all(stock.fits(inside) for stock in _STOCKS)

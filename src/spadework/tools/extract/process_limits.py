"""What the system is told of this process: how much memory it may take, and when it ends."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform == "win32":  # it has none of this; there the process that asks must do the killing

    def limit_memory(size: int) -> None:
        """No more than `size` bytes."""

    def memory_taken() -> int:
        """The most bytes this process has had at a time."""
        return 0

    @contextmanager
    def mortal(pipe: int, seconds: float) -> Iterator[None]:
        """Ends after `seconds`, or when nobody is left to read from `pipe`."""
        yield

else:
    import fcntl
    import resource
    import signal

    def limit_memory(size: int) -> None:
        """No more than `size` bytes; then Python raises MemoryError, and libraries fail."""
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))

    def memory_taken() -> int:
        """The most bytes this process has had at a time."""
        # What Linux says of a process in getrusage begins with the size of its parent.
        with suppress(OSError, StopIteration):
            lines = Path("/proc/self/status").read_text().splitlines()
            return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1_024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1_024
        )

    @contextmanager
    def mortal(pipe: int, seconds: float) -> Iterator[None]:
        """The system ends this process after `seconds`, or when the pipe's reader has died.

        Both also while a library in C holds the interpreter: signals are left to the system.
        """
        signal.setitimer(signal.ITIMER_REAL, seconds)
        _signal_when_closed(pipe, on=True)
        try:
            yield
        finally:
            _signal_when_closed(pipe, on=False)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _signal_when_closed(pipe: int, *, on: bool) -> None:
        """Have SIGIO, which ends a process, sent at the end of a pipe while nothing is written.

        Not for one that is read from: its signal may come a moment after what was read last.
        """
        if hasattr(fcntl, "F_SETOWN"):
            fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
            flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
            fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)

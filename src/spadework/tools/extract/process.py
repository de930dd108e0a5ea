"""A separate reading process: its limits and its time."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Lock
from typing import Any

from spadework.tools.extract.frames import join_reply, receive, send
from spadework.tools.web.process_groups import kill_group

if sys.platform == "win32":  # has none of this; there the asking process must kill

    def limit_memory(size: int) -> None:
        """Do nothing: Windows has no such limit."""

    def memory_taken() -> int:
        """Return 0: unknown on Windows."""
        return 0

    @contextmanager
    def mortal(pipe: int, seconds: float) -> Iterator[None]:
        """Do nothing: Windows has no such signals."""
        yield

else:
    import fcntl
    import resource
    import signal

    def limit_memory(size: int) -> None:
        """Limit memory to `size` bytes; beyond it Python raises MemoryError, and libraries fail."""
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))

    def memory_taken() -> int:
        """Return the peak memory of this process in bytes."""
        # On Linux, getrusage starts with the size of the parent.
        with suppress(OSError, StopIteration):
            lines = Path("/proc/self/status").read_text().splitlines()
            return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) * 1_024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
            1 if sys.platform == "darwin" else 1_024
        )

    @contextmanager
    def mortal(pipe: int, seconds: float) -> Iterator[None]:
        """Have the system end this process after `seconds`, or when the pipe's reader has died.

        Signals without handlers, because they work while a C library holds the interpreter.
        """
        signal.setitimer(signal.ITIMER_REAL, seconds)
        _signal_when_closed(pipe, on=True)
        try:
            yield
        finally:
            _signal_when_closed(pipe, on=False)
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _signal_when_closed(pipe: int, *, on: bool) -> None:
        """Have SIGIO, which ends a process, sent when a pipe is closed while nothing is written.

        Not for a pipe being read: its signal may come just after the last read.
        """
        if hasattr(fcntl, "F_SETOWN"):
            fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
            flags = fcntl.fcntl(pipe, fcntl.F_GETFL)
            fcntl.fcntl(pipe, fcntl.F_SETFL, flags | os.O_ASYNC if on else flags & ~os.O_ASYNC)


#: Share of the time spent on pages; the rest is for processing them.
SHARE = 0.5

_until: ContextVar[float] = ContextVar("reading_until", default=math.inf)


@contextmanager
def limit_reading(seconds: float) -> Iterator[None]:
    """Give documents read in this context this many `seconds`."""
    token = _until.set(time.monotonic() + SHARE * seconds)
    try:
        yield
    finally:
        _until.reset(token)


def reading_until() -> float:
    """Return when the last page must be read on `time.monotonic`; infinity without a deadline."""
    return _until.get()


#: -P: a module in the current folder must not shadow ours.
_PROGRAM = ("-P", "-m", "spadework.tools.extract.reader_program")
#: The only environment variables passed on; keys are not.
_ENVIRONMENT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT",
    "TESSDATA_PREFIX", "TMPDIR", "TEMP",
)  # fmt: skip


class Ended(Exception):
    """The process has ended instead of answering."""


class Process:
    """One reading process. All methods except `kill` may block and belong in a thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._lock = Lock()

    @property
    def usable(self) -> bool:
        """Whether it can take another request."""
        return not self._killed and (self._process is None or self._process.poll() is None)

    def start(self) -> subprocess.Popen[bytes]:
        """Start it unless it runs."""
        with self._lock:
            if self._process is None:
                own = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
                pipe = subprocess.PIPE
                self._process = subprocess.Popen(
                    [sys.executable, *_PROGRAM],
                    stdin=pipe,
                    stdout=pipe,
                    stderr=subprocess.DEVNULL,
                    env=own,
                    start_new_session=True,
                )
            if self._killed:
                _kill(self._process)
            return self._process

    def ask(self, request: dict[str, Any], body: bytes) -> dict[str, Any]:
        """Return the reply to a request. Raises Ended when the process ends, also when killed."""
        process = self.start()
        try:
            if process.stdin is None or process.stdout is None:
                raise EOFError
            send(process.stdin, request, body)
            reply = join_reply(*receive(process.stdout))
        except (OSError, EOFError, ValueError):
            # A pipe that another thread has closed is a ValueError.
            self.end()
            raise Ended from None
        if reply["last"]:
            self.end()
        return reply

    def kill(self) -> None:
        """Kill it now, or once it is started; whoever awaits its reply then ends it."""
        self._killed = True
        if self._process is not None:
            _kill(self._process)

    def end(self) -> None:
        """Kill it and release everything. Two threads may do so at once."""
        self.kill()
        with self._lock:
            process = self._process
        if process is None:
            return
        _kill(process)
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except (OSError, ValueError):
                # The last write has no reader, or another thread has closed it.
                continue
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and its group, the programs it has started."""
    if process.returncode is None:  # another process may have its number by now
        kill_group(process)

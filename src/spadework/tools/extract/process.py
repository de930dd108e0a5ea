"""Reading in a process of its own: its limits, and the time it gets."""

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


#: The share of the time there is that goes into the pages; the rest is for what is made of them.
SHARE = 0.5

_until: ContextVar[float] = ContextVar("reading_until", default=math.inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Documents that are read here have so many `seconds`."""
    token = _until.set(time.monotonic() + SHARE * seconds)
    try:
        yield
    finally:
        _until.reset(token)


def reading_until() -> float:
    """When the last page is to be read, on `time.monotonic`; never, where nobody waits."""
    return _until.get()


#: -P: a module in the folder where spadework was called must not be taken for one of ours.
_PROGRAM = ("-P", "-m", "spadework.tools.extract.reader_program")
#: All that the process gets to know of our environment; keys are not for it.
_ENVIRONMENT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT",
    "TESSDATA_PREFIX", "TMPDIR", "TEMP",
)  # fmt: skip


class Ended(Exception):
    """The process has ended instead of answering."""


class Process:
    """One process. All but `kill` may wait and belongs in a thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._lock = Lock()

    @property
    def usable(self) -> bool:
        """Can it be asked something more?"""
        return not self._killed and (self._process is None or self._process.poll() is None)

    def start(self) -> subprocess.Popen[bytes]:
        """Start it, if it does not run yet."""
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
        """The answer to a request. Raises Ended when the process ends instead, also when killed."""
        process = self.start()
        try:
            if process.stdin is None or process.stdout is None:
                raise EOFError
            send(process.stdin, request, body)
            reply = join_reply(*receive(process.stdout))
        except (OSError, EOFError, ValueError):
            # A pipe that somebody else has closed is a ValueError.
            self.end()
            raise Ended from None
        if reply["last"]:
            self.end()
        return reply

    def kill(self) -> None:
        """Kill it at once, or as soon as it is started; what waits for its answer then ends it."""
        self._killed = True
        if self._process is not None:
            _kill(self._process)

    def end(self) -> None:
        """Kill it and leave nothing of it behind. Two threads may do so at once."""
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
                # What was written last has no reader any more; somebody else has closed it.
                continue
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and the programs that it has started, which are of its group."""
    if process.returncode is None:  # its number may be that of another one by now
        kill_group(process)

"""Leaving the process in time: what is not closed at the run's deadline is dropped with it."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from spadework.child_processes import end_all

#: Seconds that are left for closing at least, and at most.
LEAST_SECONDS, MOST_SECONDS = 0.5, 12.0


class Leaving:
    """The end of the process. `alone`: it does one command, and is left when that is done."""

    def __init__(self) -> None:
        self.alone = False
        self._code = 0
        self._closed = threading.Event()

    @contextmanager
    def for_good(self) -> Iterator[None]:
        """Do here what the process is for: it is left with the exit code of that, when threads have
        ended and what was to be done at the end is done. Python would then take every module apart,
        which takes seconds on a busy machine and changes nothing.
        """
        self.alone, self._code = True, 1
        atexit.register(self._left)  # the first to be registered is the last to be called
        try:
            yield
            self._code = 0
        except SystemExit as left:
            self._code = left.code if isinstance(left.code, int) else int(bool(left.code))
            raise

    def _left(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(self._code)

    def begin(self, left: float, code: int) -> None:
        """End the process with `code` after the seconds `left`, unless it is `closed` before."""
        self._closed.clear()
        seconds = max(LEAST_SECONDS, min(left, MOST_SECONDS))
        threading.Thread(
            target=self._watch, args=(seconds, code), name="leaving", daemon=True
        ).start()

    def closed(self, home: Path) -> None:
        """The run is closed. A process that is `alone` is watched on."""
        # Its threads and libraries may be slow to leave, which the next run of this home knows.
        if not self.alone:
            self._closed.set()
            return
        from spadework.sessions.metrics.run_history import (
            took,  # heavier than what only shows a help text
        )

        began = time.monotonic()
        # Called when all threads have been waited for.
        atexit.register(lambda: took(home, leaving=time.monotonic() - began))

    def _watch(self, seconds: float, code: int) -> None:
        if not self._closed.wait(seconds):
            end_all()
            self._code = code
            self._left()


#: That of this process.
LEAVING = Leaving()

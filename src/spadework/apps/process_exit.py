"""Exiting in time: whatever is not closed by the run's deadline is dropped with the process."""

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

#: Minimum and maximum seconds for closing.
LEAST_SECONDS, MOST_SECONDS = 0.5, 12.0


class Leaving:
    """The exit of the process. `alone`: it runs one command and then exits."""

    def __init__(self) -> None:
        self.alone = False
        self._code = 0
        self._closed = threading.Event()

    @contextmanager
    def for_good(self) -> Iterator[None]:
        """Run the process's only task, then exit with its code once threads and exit handlers are
        done. Python's own teardown of modules takes seconds on a busy machine and achieves nothing.
        """
        self.alone, self._code = True, 1
        atexit.register(self._flush)  # first registered, last called
        try:
            yield
            self._code = 0
        except SystemExit as left:
            self._code = left.code if isinstance(left.code, int) else int(bool(left.code))
            raise

    def _flush(self) -> None:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(self._code)

    def begin(self, left: float, code: int) -> None:
        """End the process with `code` after `left` seconds, unless it is `closed` before."""
        self._closed.clear()
        seconds = max(LEAST_SECONDS, min(left, MOST_SECONDS))
        threading.Thread(
            target=self._watch, args=(seconds, code), name="leaving", daemon=True
        ).start()

    def closed(self, home: Path) -> None:
        """Record that the run is closed. A process that is `alone` stays watched."""
        # Threads and libraries may be slow to exit; the next run accounts for that.
        if not self.alone:
            self._closed.set()
            return
        from spadework.sessions.metrics.run_history import (
            took,  # heavier than a help text needs
        )

        began = time.monotonic()
        # Called once all threads have ended.
        atexit.register(lambda: took(home, leaving=time.monotonic() - began))

    def _watch(self, seconds: float, code: int) -> None:
        if not self._closed.wait(seconds):
            end_all()
            self._code = code
            self._flush()


LEAVING = Leaving()

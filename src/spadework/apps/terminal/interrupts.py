"""Ctrl-C while a run goes on: once stops and writes, twice leaves it, to be taken up later."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Callable

from spadework.sessions.session import Session


class Interrupts:
    """Listens for the signals of one run. `left` is set when the user leaves it."""

    def __init__(self, session: Session, note: Callable[[str], None]) -> None:
        self.left = asyncio.Event()
        self._session = session
        self._note = note
        self._stopping = False
        self._before = signal.getsignal(signal.SIGTERM)

    def listen(self) -> None:
        """Take the signals; also when somebody else had them meanwhile."""
        loop = asyncio.get_running_loop()
        # Windows event loops have no signal handlers; there Ctrl-C quits at once.
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGINT, self.pressed)
            loop.add_signal_handler(signal.SIGTERM, self.left.set)

    def ignore(self) -> None:
        """Give the signals back to who had them before."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)
            if loop.remove_signal_handler(signal.SIGTERM):
                signal.signal(signal.SIGTERM, self._before)

    def pressed(self) -> None:
        """Ctrl-C was pressed."""
        if self._stopping:
            self.left.set()
        self.stop()

    def stop(self) -> None:
        """Stop searching, and write."""
        self._stopping = True
        self._note("Stopping: writing with what there is. Ctrl-C again quits.")
        self._session.stop()

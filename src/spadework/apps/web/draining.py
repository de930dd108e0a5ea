"""How a server ends: SIGTERM takes nothing new and lets runs go on; again, it ends at once."""

from __future__ import annotations

import signal
import time
from types import FrameType

import uvicorn

from spadework.apps.saying import number_of, say
from spadework.apps.web.page_context import Server
from spadework.sessions import admission


class DrainingServer(uvicorn.Server):
    """A server of ours in the process of ending, when it is time."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server
        self._told = False
        self._until: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end, or end. A signal comes at any moment, so it is only noted here."""
        if sig == signal.SIGTERM and not self._told:
            self._told = True
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether it is time to end."""
        if self._told and self._until is None:
            self._until = self._drain()
        over = self._until is not None and (self._server.quiet() or time.monotonic() >= self._until)
        return await super().on_tick(counter) or over

    async def main_loop(self) -> None:
        """Serve until it is time to end. Streams are told of that while they still can be."""
        await super().main_loop()
        admission.here().close()
        await self._server.close()

    def _drain(self) -> float:
        """Take nothing new; until when what runs may go on, on the clock of `time.monotonic`."""
        admission.here().close()
        seconds = self._server.owner.settings.drain_seconds
        if seconds and (running := admission.here().inside):
            say(
                f"{number_of(running, 'run')} may go on for {seconds:g} s; another signal ends"
                " that.",
                err=True,
            )
        return time.monotonic() + seconds

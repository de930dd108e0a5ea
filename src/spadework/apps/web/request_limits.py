"""How long a server waits for a whole request: nobody holds a connection by saying nothing."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.auto import AutoHTTPProtocol

#: Seconds in which a request has come, or so many bytes of a large one.
REQUEST_SECONDS, LEAST_BYTES = 20.0, 20_000


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # one of two classes, as installed
    """HTTP as uvicorn speaks it; a connection whose request does not come is closed."""

    # Of both classes.
    cycle: Any
    loop: asyncio.AbstractEventLoop
    transport: Any
    _waiting: asyncio.TimerHandle | None = None
    _came = 0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Take a piece of a request; whole, it is waited for no longer."""
        self._came += len(data)
        before = self.cycle
        super().data_received(data)
        # On a connection that was used before, a cycle that is over is that of another request.
        another = self.cycle is before and before is not None and before.response_complete
        if self.cycle is not None and not self.cycle.more_body and not another:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._came = 0
        self._waiting = self.loop.call_later(REQUEST_SECONDS, self._over)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _over(self) -> None:
        if self._came >= LEAST_BYTES:
            self._wait()
        else:
            self._waiting = None
            self.transport.abort()

"""`serve`: the server in this process until a signal. SIGTERM: it accepts nothing new, and runs may
continue for a while; a second one, or Ctrl-C, ends it at once. The next server resumes the rest.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from types import FrameType

import uvicorn

from spadework.apps.mcp.http import mcp_routes
from spadework.apps.messages import log_to_stderr, number_of, say
from spadework.apps.openai.api import openai_routes
from spadework.apps.web.app import build_app
from spadework.apps.web.listener import config_of, listening
from spadework.apps.web.page_context import Server
from spadework.apps.web.security import Access
from spadework.sessions import admission
from spadework.settings import Settings

#: Seconds for open requests to finish at shutdown.
GRACE_SECONDS = 3


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal. Raises SettingsError for a bad address."""
    log_to_stderr()
    access = Access.of(settings, host)
    sock = listening(host, port)
    mcp = mcp_routes(settings)
    app = build_app(
        settings, access=access, routes=[*mcp.routes, *openai_routes()], lifespans=[mcp.lifespan]
    )
    say(_address(host, sock.getsockname()[1], access), err=True)
    config = config_of(app, GRACE_SECONDS)
    asyncio.run(DrainingServer(config, app.state.server).serve([sock]))


def _address(host: str, port: int, access: Access) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(
        host, f"[{host}]" if ":" in host else host
    )
    token = f"?token={access.token}" if access.token else ""
    return f"spadework is at http://{shown}:{port}/{token}  (Ctrl-C stops it)"


class DrainingServer(uvicorn.Server):
    """A server that drains on SIGTERM."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server
        self._told = False
        self._until: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Start draining, or end. Only recorded here, as signals come at any time."""
        if sig == signal.SIGTERM and not self._told:
            self._told = True
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Return whether it is time to end; called ten times a second."""
        if self._told and self._until is None:
            self._until = self._drain()
        over = self._until is not None and (self._server.quiet() or time.monotonic() >= self._until)
        return await super().on_tick(counter) or over

    async def main_loop(self) -> None:
        """Serve until it is time to end. Streams are notified while they still can be."""
        await super().main_loop()
        admission.here().close()
        await self._server.close()

    def _drain(self) -> float:
        admission.here().close()
        seconds = self._server.owner.settings.drain_seconds
        if seconds and (running := admission.here().inside):
            say(
                f"{number_of(running, 'run')} may go on for {seconds:g} s; another signal ends"
                " that.",
                err=True,
            )
        return time.monotonic() + seconds

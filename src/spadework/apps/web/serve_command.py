"""`serve`: the server in this process until it is told to stop; the next takes up its runs."""

from __future__ import annotations

import asyncio
import socket

from spadework.apps.mcp.http import mcp_routes
from spadework.apps.openai.api import openai_routes
from spadework.apps.saying import log_to_stderr, say
from spadework.apps.web.app import build_app
from spadework.apps.web.draining import DrainingServer
from spadework.apps.web.listening import config_of, listening
from spadework.apps.web.security import Access
from spadework.settings import Settings

#: Seconds that open requests have when the server is stopped.
GRACE_SECONDS = 3


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal stops it. Raises SettingsError for a bad address."""
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

"""`serve`: the server in this process, until it is told to stop; runs that are under way are left
to be taken up by the next.
"""

from __future__ import annotations

import asyncio
import errno
import socket

import uvicorn

from spadework.apps.mcp.http import mcp_routes
from spadework.apps.openai.api import openai_routes
from spadework.apps.saying import log_to_stderr, say
from spadework.apps.web.app import build_app
from spadework.apps.web.draining import DrainingServer
from spadework.apps.web.request_limits import PatientProtocol
from spadework.apps.web.security import Access
from spadework.errors import SettingsError
from spadework.settings import Settings

#: Seconds that open requests have when the server is stopped.
GRACE_SECONDS = 3


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal stops it. Raises SettingsError for an address that cannot be listened
    on.
    """
    log_to_stderr()
    access = Access.of(settings, host)
    sock = _listening(host, port)
    mcp = mcp_routes(settings)
    app = build_app(
        settings, access=access, routes=[*mcp.routes, *openai_routes()], lifespans=[mcp.lifespan]
    )
    say(_address(host, sock.getsockname()[1], access), err=True)
    config = uvicorn.Config(
        app,
        http=PatientProtocol,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        proxy_headers=False,  # whom to believe is said in `proxies`
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    asyncio.run(DrainingServer(config, app.state.server).serve([sock]))


def _listening(host: str, port: int) -> socket.socket:
    if not 0 <= port < 65_536:
        raise SettingsError(f"port cannot be {port}: it must be 0 to 65535.")
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        made = socket.create_server((host, port), family=family)
        # Only for a socket that says it is TCP does asyncio turn off the waiting for small pieces:
        # 40 ms for each answer on a connection that is kept.
        return socket.socket(family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = f"port {port} is in use" if taken else (error.strerror or str(error))
        raise SettingsError(
            f"spadework cannot listen on {host}: {why}.",
            hint="Choose another with --port or --host.",
        ) from None


def _address(host: str, port: int, access: Access) -> str:
    shown = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(
        host, f"[{host}]" if ":" in host else host
    )
    return (
        f"spadework is at http://{shown}:{port}/"
        + (f"?token={access.token}" if access.token else "")
        + "  (Ctrl-C stops it)"
    )

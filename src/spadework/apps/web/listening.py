"""How a server listens: its socket, and what it does with requests."""

from __future__ import annotations

import errno
import socket

import uvicorn
from starlette.types import ASGIApp

from spadework.apps.web.request_limits import PatientProtocol
from spadework.errors import SettingsError


def listening(host: str, port: int, *, both: bool = False) -> socket.socket:
    """A socket that listens; `both`: at `::` on IPv4, too. Raises SettingsError."""
    if not 0 <= port < 65_536:
        raise SettingsError(f"port cannot be {port}: it must be 0 to 65535.")
    try:
        # Of a name with both, such as localhost, the address that every client tries.
        family = min(found[0] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        both = both and family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        made = socket.create_server((host, port), family=family, dualstack_ipv6=both)
        # Only for a socket that says it is TCP does asyncio turn off the waiting for small pieces:
        # 40 ms for each answer on a connection that is kept.
        return socket.socket(family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except UnicodeError:
        raise SettingsError(f"spadework cannot listen on {host[:80]!r}: it is no host.") from None
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = f"port {port} is in use" if taken else (error.strerror or str(error))
        raise SettingsError(
            f"spadework cannot listen on {host}: {why}.",
            hint="Choose another with --port or --host.",
        ) from None


def config_of(app: ASGIApp, grace_seconds: int) -> uvicorn.Config:
    """How uvicorn serves an app; open requests have the seconds of grace when it ends."""
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        proxy_headers=False,  # whom to believe is said in `proxies`
        timeout_graceful_shutdown=grace_seconds,
    )

"""How a server listens, and what those ask who keep it going."""

from __future__ import annotations

import asyncio
import errno
import socket
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.auto import AutoHTTPProtocol

from spadework.apps.web.page_context import server_of
from spadework.errors import SettingsError

#: Seconds in which a request has come, or so many bytes of a large one.
REQUEST_SECONDS, LEAST_BYTES = 20.0, 20_000


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


FRESH = {"Cache-Control": "no-store"}


def operating_routes() -> list[BaseRoute]:
    """The routes; `permissions` says who may ask for which."""
    return [
        Route("/healthz", tell_alive),
        Route("/readyz", tell_ready),
        Route("/metrics", tell_numbers),
    ]


async def tell_alive(request: Request) -> Response:
    """That the process lives."""
    return PlainTextResponse("ok\n", headers=FRESH)


async def tell_ready(request: Request) -> Response:
    """That questions may be sent here, or why they may not."""
    fault = await server_of(request).readiness.fault()
    return PlainTextResponse(f"{fault or 'ready'}\n", 503 if fault else 200, headers=FRESH)


async def tell_numbers(request: Request) -> Response:
    """What the process has done, for Prometheus."""
    from spadework.sessions.metrics.prometheus import expose  # nobody may ever ask for them

    accept = request.headers.get("accept", "")
    body, media_type = expose(accept, server_of(request).owner.streams.total())
    return Response(body, headers={**FRESH, "Content-Type": media_type})

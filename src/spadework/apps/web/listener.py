"""Listening sockets, HTTP timeouts, and routes for health checks and metrics."""

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
from spadework.errors import SettingsError, must_be

#: A connection is closed if a request is still incomplete after this many seconds and fewer than
#: LEAST_BYTES bytes arrived in that time.
REQUEST_SECONDS, LEAST_BYTES = 20.0, 20_000


def open_listener(host: str, port: int, *, both: bool = False) -> socket.socket:
    """Return a listening socket. If `both`, `::` also accepts IPv4. Raises SettingsError."""
    if not 0 <= port < 65_536:
        raise SettingsError(must_be("port", "0 to 65535", port))
    try:
        # Prefer IPv4, because every client tries it.
        family = min(found[0] for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
        both = both and family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        made = socket.create_server((host, port), family=family, dualstack_ipv6=both)
        # asyncio disables Nagle's algorithm, which can delay data by 40 ms, only on sockets marked
        # as TCP.
        return socket.socket(family, made.type, socket.IPPROTO_TCP, fileno=made.detach())
    except UnicodeError:
        raise SettingsError(
            f"spadework cannot listen on {host[:80]!r}: it is not a host name."
        ) from None
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        why = f"port {port} is in use" if taken else (error.strerror or str(error))
        raise SettingsError(
            f"spadework cannot listen on {host}: {why}.",
            hint="Choose another port or address with --port or --host.",
        ) from None


def config_of(app: ASGIApp, grace_seconds: int) -> uvicorn.Config:
    """Return uvicorn's configuration for `app`."""
    return uvicorn.Config(
        app,
        http=PatientProtocol,
        log_config=None,
        access_log=False,
        ws="none",
        server_header=False,
        proxy_headers=False,  # see `Proxies`
        timeout_graceful_shutdown=grace_seconds,
    )


class PatientProtocol(AutoHTTPProtocol):  # type: ignore[misc,valid-type]  # one of two classes, as installed
    """uvicorn's HTTP protocol, with a timeout for slow requests."""

    # Set by the base class.
    cycle: Any
    loop: asyncio.AbstractEventLoop
    transport: Any
    _waiting: asyncio.TimerHandle | None = None
    _came = 0

    def connection_made(self, transport: Any) -> None:
        """Start the request timeout."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Receive data, and stop the timeout once the request is complete."""
        self._came += len(data)
        before = self.cycle
        super().data_received(data)
        # On a reused connection, a finished request cycle belongs to the previous request, not to
        # the one that is arriving.
        another = self.cycle is before and before is not None and before.response_complete
        if self.cycle is not None and not self.cycle.more_body and not another:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timeout."""
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
    """Return the health, readiness and metrics routes."""
    return [
        Route("/healthz", tell_alive),
        Route("/readyz", tell_ready),
        Route("/metrics", tell_numbers),
    ]


async def tell_alive(request: Request) -> Response:
    """Report that the process is alive."""
    return PlainTextResponse("ok\n", headers=FRESH)


async def tell_ready(request: Request) -> Response:
    """Report that this server accepts questions, or why it does not."""
    fault = await server_of(request).readiness.fault()
    return PlainTextResponse(f"{fault or 'ready'}\n", 503 if fault else 200, headers=FRESH)


async def tell_numbers(request: Request) -> Response:
    """Return this process's metrics for Prometheus."""
    from spadework.sessions.metrics.prometheus import expose  # rarely needed

    accept = request.headers.get("accept", "")
    body, media_type = expose(accept, server_of(request).owner.streams.total())
    return Response(body, headers={**FRESH, "Content-Type": media_type})

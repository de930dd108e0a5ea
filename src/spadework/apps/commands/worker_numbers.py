"""Health and metrics of a worker on a port of its own, behind a server's gate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from spadework.apps.messages import say
from spadework.apps.web.listener import config_of, open_listener, operating_routes
from spadework.apps.web.page_context import Server
from spadework.apps.web.security import Access, Gate
from spadework.sessions.health.readiness import Readiness
from spadework.settings import Settings

#: Seconds for open requests to finish at shutdown.
GRACE_SECONDS = 1


class _Aside(uvicorn.Server):
    """A server that runs in parallel to the process's main task."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals to the worker."""
        yield


@asynccontextmanager
async def serve_numbers(
    settings: Settings, host: str, port: int | None, leaves: Callable[[], bool]
) -> AsyncIterator[None]:
    """Serve on this port, if any, inside the context. Raises SettingsError for a bad address."""
    if port is None:
        yield
        return
    access = Access.of(settings, host)
    app = Starlette(routes=operating_routes(), middleware=[Middleware(Gate, access=access)])
    app.state.server = server = Server(settings, access)
    server.readiness = Readiness(settings, leaves)
    sock = open_listener(host, port)
    say(f"its numbers are at http://{host}:{sock.getsockname()[1]}/metrics", err=True)
    aside = _Aside(config_of(app, GRACE_SECONDS))
    serving = asyncio.create_task(aside.serve([sock]))
    try:
        yield
    finally:
        aside.should_exit = True
        await asyncio.gather(serving, return_exceptions=True)

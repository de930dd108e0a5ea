"""The `worker` command: run sessions submitted from any machine."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware

from spadework.apps.messages import say
from spadework.apps.web.listener import config_of, open_listener, operating_routes
from spadework.apps.web.page_context import Server
from spadework.apps.web.security import Access, Gate
from spadework.sessions.health.check import Readiness
from spadework.settings import Settings


async def run_worker(settings: Any, host: str, port: int | None) -> None:
    """Run submitted sessions until SIGTERM or Ctrl-C."""
    from spadework.apps.messages import log_to_stderr, say
    from spadework.machines.worker import work

    def ready(told: str) -> None:
        say(f"spadework worker {told}  (press Ctrl-C to stop)", err=True)

    def leave() -> None:
        if told.is_set():
            working.cancel()
        else:
            told.set()

    log_to_stderr()
    told = asyncio.Event()
    async with serve_numbers(settings, host, port, told.is_set):
        working = asyncio.create_task(work(settings, settings.parallel_sessions, ready, told))
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, leave)
        loop.add_signal_handler(signal.SIGINT, working.cancel)
        with suppress(asyncio.CancelledError):
            await working


#: Grace period for open requests at shutdown, in seconds.
GRACE_SECONDS = 1


class _Aside(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serve_numbers(
    settings: Settings, host: str, port: int | None, leaves: Callable[[], bool]
) -> AsyncIterator[None]:
    """Serve health checks and metrics on `port`, if given. Raises SettingsError on failure."""
    if port is None:
        yield
        return
    access = Access.of(settings, host)
    app = Starlette(routes=operating_routes(), middleware=[Middleware(Gate, access=access)])
    app.state.server = server = Server(settings, access)
    server.readiness = Readiness(settings, leaves)
    sock = open_listener(host, port)
    say(f"Metrics are at http://{host}:{sock.getsockname()[1]}/metrics", err=True)
    aside = _Aside(config_of(app, GRACE_SECONDS))
    serving = asyncio.create_task(aside.serve([sock]))
    try:
        yield
    finally:
        aside.should_exit = True
        await asyncio.gather(serving, return_exceptions=True)

"""The server: the web page and other interfaces, behind shared access checks."""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from spadework.apps.mcp.http import mcp_routes
from spadework.apps.messages import log_to_stderr, number_of, say
from spadework.apps.openai.api import openai_routes
from spadework.apps.web import actions, event_stream, pages
from spadework.apps.web.listener import config_of, open_listener, operating_routes
from spadework.apps.web.page_context import Server
from spadework.apps.web.security import Access, Gate
from spadework.backend import backend_of
from spadework.errors import SpadeworkError
from spadework.sessions import admission
from spadework.settings import Settings

STATIC = Path(__file__).parent / "static"

Lifespan = Callable[[], AbstractAsyncContextManager[object]]


def build_app(
    settings: Settings,
    *,
    access: Access | None = None,
    routes: Sequence[BaseRoute] = (),
    lifespans: Sequence[Lifespan] = (),
) -> Starlette:
    """Return the server as an ASGI application.

    - `access`: the access rules, by default those for a loopback address.
    - `routes`: more routes, behind the same checks of host, origin and token.
    - `lifespans`: contexts that stay open while the server runs.
    """
    server = Server(settings, access or Access.of(settings))
    app = Starlette(
        routes=[*operating_routes(), *routes, *page_routes()],
        middleware=[Middleware(Gate, access=server.owner.access)],
        exception_handlers=dict.fromkeys((HTTPException, SpadeworkError), pages.refuse_request),
        lifespan=partial(_serve, server, lifespans),
    )
    app.state.server = server
    return app


@asynccontextmanager
async def _serve(
    server: Server, lifespans: Sequence[Lifespan], app: Starlette
) -> AsyncGenerator[None, None]:
    owner = server.owner.settings
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(backend_of(owner).connected(owner))
        for enter in lifespans:
            await stack.enter_async_context(enter())
        # Import early, because otherwise the first question would wait a second for this module.
        warming = asyncio.create_task(asyncio.to_thread(import_module, "langchain_openai"))
        await server.take_up()
        try:
            yield
        finally:
            await server.close()
            await warming


def page_routes() -> list[BaseRoute]:
    """Return the web page's routes."""
    session, done = "/s/{id}", ["POST"]
    return [
        Route("/", pages.start),
        Route("/ask", actions.ask, methods=done),
        Route("/statistics", pages.statistics_page),
        Route("/settings", pages.settings_check),
        Route("/settings/findings", pages.settings_findings),
        Route(session, pages.session),
        Route(f"{session}/events", event_stream.events),
        Route(f"{session}/answer", actions.answer, methods=done),
        Route(f"{session}/plan", actions.edit_plan, methods=done),
        Route(f"{session}/stop", actions.stop, methods=done),
        Route(f"{session}/cancel", actions.cancel, methods=done),
        Route(f"{session}/resume", actions.resume, methods=done),
        Route(f"{session}/delete", actions.delete, methods=done),
        Route(f"{session}/related", pages.related),
        Route(session + "/report.{ending}", pages.export),
        Route(session + "/pages/{hash}", pages.snapshot),
        Route(session + "/pictures/{name}", pages.picture),
        Route("/favicon.ico", _favicon),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]


async def _favicon(request: Request) -> Response:
    return FileResponse(STATIC / "favicon.svg", media_type="image/svg+xml")


#: Grace period for open requests at shutdown, in seconds.
GRACE_SECONDS = 3


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until a signal arrives. Raises SettingsError for a bad address."""
    log_to_stderr()
    access = Access.of(settings, host)
    sock = open_listener(host, port)
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
    return f"spadework is running at http://{shown}:{port}/{token}  (press Ctrl-C to stop)"


class DrainingServer(uvicorn.Server):
    """A server that lets runs finish after SIGTERM, within a time limit."""

    def __init__(self, config: uvicorn.Config, server: Server) -> None:
        super().__init__(config)
        self._server = server
        self._told = False
        self._until: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Let runs finish after the first SIGTERM. Any other signal ends the server."""
        if sig == signal.SIGTERM and not self._told:
            self._told = True
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        """Return whether to stop. uvicorn calls this ten times a second."""
        if self._told and self._until is None:
            self._until = self._drain()
        over = self._until is not None and (self._server.quiet() or time.monotonic() >= self._until)
        return await super().on_tick(counter) or over

    async def main_loop(self) -> None:
        """Serve, then end the event streams before uvicorn closes them."""
        await super().main_loop()
        admission.here().close()
        await self._server.close()

    def _drain(self) -> float:
        admission.here().close()
        seconds = self._server.owner.settings.drain_seconds
        if seconds and (running := admission.here().inside):
            say(
                f"Waiting up to {seconds:g} s for {number_of(running, 'run')} to finish;"
                f" send another signal to stop now.",
                err=True,
            )
        return time.monotonic() + seconds

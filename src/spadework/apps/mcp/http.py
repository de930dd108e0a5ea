"""The MCP server over streamable HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import uvicorn
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.applications import Starlette
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from spadework.apps.mcp.server import ENDS, build_server
from spadework.apps.messages import log_to_stderr, say
from spadework.apps.web.listener import config_of, open_listener
from spadework.apps.web.security import TOKEN_FILE, Access, Gate, user_of
from spadework.settings import Settings

PATH = "/mcp"
#: Grace period for open requests at shutdown, in seconds.
CLOSING_SECONDS = 3
LEFT = "The client cancelled its request."
STOPPED = (
    "The server is stopping. Finished work is kept. To continue once the server is back, call"
    ' get_session_data with session_id "latest", then agentic_search with the id it returns.'
)


@dataclass(frozen=True)
class Mounted:
    """Routes for an application, and the lifespan they need."""

    routes: Sequence[BaseRoute]
    lifespan: Callable[[], AbstractAsyncContextManager[None]]


def mcp_routes(settings: Settings) -> Mounted:
    """Return the MCP server's route, to be placed behind `apps.web.security.Gate`."""
    app = build_server(settings).streamable_http_app(streamable_http_path=PATH, host="")
    [route] = app.routes
    assert isinstance(route, Route)

    @asynccontextmanager
    async def lifespan() -> AsyncIterator[None]:
        async with app.router.lifespan_context(app):
            yield

    return Mounted([Route(PATH, endpoint=_Watched(route.app))], lifespan)


class _Watched:
    """Adds to each request's scope the events that end its tool calls, because older protocol
    versions do not report that a client disconnected.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        left = asyncio.Event()
        scope[ENDS] = {LEFT: left}
        # An app that serves only MCP has no `server` object to signal its shutdown.
        if server := getattr(scope["app"].state, "server", None):
            scope[ENDS][STOPPED] = server.owner.closing
        if name := user_of(scope).name:
            scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=name, scopes=[]))
        try:
            await self._app(scope, receive, send)
        finally:
            left.set()


def build_app(settings: Settings, access: Access) -> ASGIApp:
    """Return an application that serves only MCP, behind `Gate`."""
    mounted = mcp_routes(settings)
    app = Starlette(routes=mounted.routes, lifespan=lambda _: mounted.lifespan())
    return Gate(app, access)


def serve_http(settings: Settings, host: str, port: int) -> None:
    """Serve at http://HOST:PORT/mcp until interrupted. Raises SettingsError."""
    log_to_stderr()
    access = Access.of(settings, host)
    app = build_app(settings, access)
    with open_listener(host, port, both=True) as sock:
        shown, bound = f"[{host}]" if ":" in host else host, sock.getsockname()[1]
        say(f"Serving MCP at http://{shown}:{bound}{PATH}", err=True)
        if access.token:
            kept = "SPADEWORK_TOKEN" if settings.token else str(settings.home / TOKEN_FILE)
            say(f"Clients send the token from {kept} as `Authorization: Bearer TOKEN`.", err=True)
        asyncio.run(uvicorn.Server(config_of(app, CLOSING_SECONDS)).serve(sockets=[sock]))

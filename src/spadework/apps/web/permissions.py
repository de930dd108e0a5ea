"""The scope a request needs, by method and path, for all interfaces."""

from __future__ import annotations

from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope as Request

from spadework.sessions.users import OWNER, Scope, User

#: ASGI scope key of the request's user.
USER = "spadework.user"
#: Paths for liveness and readiness, open to anyone.
OPEN = frozenset({"/healthz", "/readyz"})
#: The MCP tools check their own scopes. Here, read or ask is enough.
MCP = "/mcp"
_ADMIN = ("/settings", "/metrics")


def user_of(request: Request) -> User:
    """Return the request's user, or the owner if no user is required."""
    user: User = request.get(USER, OWNER)
    return user


def needed(method: str, path: str) -> Scope:
    """Return the scope needed: admin for server pages, read for GET and HEAD, ask for the rest."""
    if any(path == one or path.startswith(f"{one}/") for one in _ADMIN):
        return "admin"
    return "read" if method in ("GET", "HEAD") else "ask"


def refusal(user: User, method: str, path: str) -> Response | None:
    """Return a refusal, or None if the user has the scope."""
    scope = needed(method, path)
    if user.may(scope) or (path == MCP and (user.may("read") or user.may("ask"))):
        return None
    return PlainTextResponse(
        f"This needs the scope {scope}, which your token does not have.\n", 403
    )

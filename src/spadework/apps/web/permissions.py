"""Which scope a request needs: one table by method and path for all interfaces."""

from __future__ import annotations

from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope as Request

from spadework.sessions.users import OWNER, Scope, User

#: Scope key of a request's user.
USER = "spadework.user"
#: Open to anyone: whether the server is alive and accepts questions.
OPEN = frozenset({"/healthz", "/readyz"})
#: Its tools check their own scopes; a user needs read or ask.
MCP = "/mcp"
_ADMIN = ("/settings", "/metrics")


def user_of(request: Request) -> User:
    """Return the user of a request; the owner if none is required."""
    user: User = request.get(USER, OWNER)
    return user


def needed(method: str, path: str) -> Scope:
    """Return the scope needed: admin for pages about the server, read to look, ask for the rest."""
    if any(path == one or path.startswith(f"{one}/") for one in _ADMIN):
        return "admin"
    return "read" if method in ("GET", "HEAD") else "ask"


def refusal(user: User, method: str, path: str) -> Response | None:
    """Return the refusal for a user without the scope; None if they have it."""
    scope = needed(method, path)
    if user.may(scope) or (path == MCP and (user.may("read") or user.may("ask"))):
        return None
    return PlainTextResponse(
        f"This needs the scope {scope}, which your token does not have.\n", 403
    )

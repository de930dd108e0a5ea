"""What each request needs: a scope by its method and path, one table for all doors."""

from __future__ import annotations

from starlette.responses import PlainTextResponse, Response
from starlette.types import Scope as Request

from spadework.sessions.people.user import OWNER, Scope, User

#: Where a request notes whose it is.
USER = "spadework.user"
#: What is answered to anybody: that the server lives, and whether it may be sent questions.
OPEN = frozenset({"/healthz", "/readyz"})
#: Its tools say each what it needs; who may neither read nor ask has nothing to do there.
MCP = "/mcp"
_ADMIN = ("/settings", "/metrics")


def user_of(request: Request) -> User:
    """Whose request this is; the owner's where nobody had to say."""
    user: User = request.get(USER, OWNER)
    return user


def needed(method: str, path: str) -> Scope:
    """What a request needs: pages about the server are its administrators', looking is read, all
    else asks.
    """
    if any(path == one or path.startswith(f"{one}/") for one in _ADMIN):
        return "admin"
    return "read" if method in ("GET", "HEAD") else "ask"


def refusal(user: User, method: str, path: str) -> Response | None:
    """The sentence for a user who may not do this, None for one who may."""
    scope = needed(method, path)
    if user.may(scope) or (path == MCP and (user.may("read") or user.may("ask"))):
        return None
    return PlainTextResponse(
        f"This needs the scope {scope}, which your token does not have.\n", 403
    )

"""Context of every tool: settings, and whether the caller is on this machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context

from spadework.apps.web.permissions import user_of
from spadework.backend import backend_of
from spadework.sessions.people.people import People
from spadework.sessions.people.user import OWNER, User
from spadework.settings import Settings


@dataclass(frozen=True)
class ToolContext:
    """`local`: the owner started the caller on this machine, so it may know file paths."""

    settings: Settings
    people: People
    local: bool = False
    user: str = ""

    async def home_of(self, session_id: str) -> Path:
        """Return the caller's home, after fetching the session from workers."""
        await self.people.look()
        settings = self.people.settings_of(self.user)
        await fetch_session(settings, session_id)
        return settings.home

    @property
    def form_tokens(self) -> int:
        """Tokens for each form of an output: text and structured content."""
        return ANSWER_TOKENS // 2 - ROOM_TOKENS


#: Session id that means the newest.
LATEST = "latest"
#: Tokens reserved for titles, addresses and hints.
ROOM_TOKENS = 400
#: Maximum tokens of an answer, text and structured content together.
ANSWER_TOKENS = 20_000

Call = Context[ToolContext, Any]


async def fetch_session(settings: Settings, session_id: str) -> None:
    """Fetch a session from the workers, or the list for "latest"."""
    if session_id == LATEST:
        await backend_of(settings).know_all(settings)
    await backend_of(settings).find(settings, session_id)


def caller_of(request: Any) -> User:
    """Return the user of a request; without a network, the owner."""
    return OWNER if request is None else user_of(request.scope)


def door_of(call: Call) -> ToolContext:
    """Return the context of a call, with its user's settings."""
    context = call.request_context
    door: ToolContext = context.lifespan_context
    name = caller_of(context.request).name
    return replace(door, settings=door.people.settings_of(name), user=name) if name else door

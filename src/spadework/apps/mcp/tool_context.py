"""What every tool works with: the settings, and whether its caller sits at this machine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mcp.server.mcpserver import Context

from spadework.apps.web.permissions import user_of
from spadework.sessions.machines.session_lookup import find, know_all
from spadework.sessions.people.people import People
from spadework.sessions.people.user import OWNER, User
from spadework.settings import Settings


@dataclass(frozen=True)
class ToolContext:
    """`local`: the owner started the caller on this machine, and it may be told of files."""

    settings: Settings
    people: People
    local: bool = False
    user: str = ""

    async def home_of(self, session_id: str) -> Path:
        """The home in which the caller looks for a session, brought there from workers."""
        await self.people.look()
        settings = self.people.settings_of(self.user)
        await bring(settings, session_id)
        return settings.home

    @property
    def form_tokens(self) -> int:
        """Tokens for each form of an answer that is given as text and as structured content."""
        return self.settings.answer_tokens // 2 - ROOM_TOKENS


#: In place of an id: the newest session.
LATEST = "latest"
#: Tokens of titles, addresses and hints around what an answer is about.
ROOM_TOKENS = 400

Call = Context[ToolContext, Any]


async def bring(settings: Settings, session_id: str) -> None:
    """Have a session of this home here, or know which is the newest, where workers know it."""
    if session_id == LATEST:
        await know_all(settings)
    await find(settings, session_id)


def caller_of(request: Any) -> User:
    """Who has sent a request: of one that came by no network, the owner."""
    return OWNER if request is None else user_of(request.scope)


def door_of(call: Call) -> ToolContext:
    """The door that a call came through, with what is its caller's own."""
    context = call.request_context
    door: ToolContext = context.lifespan_context
    name = caller_of(context.request).name
    return replace(door, settings=door.people.settings_of(name), user=name) if name else door

"""What every tool of the MCP server works with: the settings, and whether its caller sits at this
machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver import Context

from spadework.settings import Settings


@dataclass(frozen=True)
class ToolContext:
    """`local`: the caller was started on this machine by the owner, and may be told where files
    are.
    """

    settings: Settings
    local: bool = False

    @property
    def form_tokens(self) -> int:
        """Tokens for each form of an answer that is given twice, as text and as structured content,
        with room for what surrounds it.
        """
        return self.settings.answer_tokens // 2 - ROOM_TOKENS


#: Tokens of titles, addresses and hints around what an answer is about.
ROOM_TOKENS = 400

Call = Context[ToolContext, Any]


def door_of(call: Call) -> ToolContext:
    """The door that a call came through."""
    return call.request_context.lifespan_context

"""Sessions as resources, which clients can show or attach without a tool call."""

from __future__ import annotations

import asyncio
from itertools import islice
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError
from mcp_types import Resource

from spadework.apps.mcp.session_data import Record, load_record, page_text
from spadework.apps.mcp.tool_context import Call, ToolContext, caller_of, door_of
from spadework.apps.mcp.tool_errors import word_fault
from spadework.errors import SessionNotFound, SpadeworkError
from spadework.prompts import fence
from spadework.sessions.storage.session_list import readable_sessions
from spadework.tools.text.markdown import one_line

SESSIONS = "spadework://sessions/"
MARKDOWN = "text/markdown"
MOST_LISTED = 20


def add_resources(server: MCPServer[ToolContext]) -> None:
    """Offer the report and pages of each session."""

    @server.resource(
        f"{SESSIONS}{{session_id}}",
        name="session",
        title="The report of a session",
        description="For a session that gathered pages: the list of them. Newest: latest.",
        mime_type=MARKDOWN,
    )
    async def session(session_id: str, call: Context[ToolContext]) -> str:
        return await _read_resource(call, session_id, "")

    @server.resource(
        f"{SESSIONS}{{session_id}}/pages/{{page}}",
        name="page",
        title="A page as a session has read it",
        description="page: the number of a source of the report.",
        mime_type=MARKDOWN,
    )
    async def page(session_id: str, page: str, call: Context[ToolContext]) -> str:
        return await _read_resource(call, session_id, page)


def list_resources(home: Path) -> list[Resource]:
    """Return the newest sessions."""
    return [
        Resource(
            uri=f"{SESSIONS}{one.id}",
            name=one.id,
            title=one_line(one.query, 100),
            description=one.status or "not finished",
            mime_type=MARKDOWN,
        )
        for one in islice(readable_sessions(home), MOST_LISTED)
    ]


async def _read_resource(call: Call, session_id: str, page: str) -> str:
    try:
        if not caller_of(call.request_context.request).may("read"):
            raise SessionNotFound(f"There is no session {session_id[:80]!r}.")
        home = await door_of(call).home_of(session_id)
        record = await asyncio.to_thread(load_record, home, session_id)
        text = await asyncio.to_thread(page_text, record, page) if page else _report(record)
        return fence(text)
    except SpadeworkError as error:
        raise ResourceError(word_fault(error)) from None


def _report(record: Record) -> str:
    if record.result is not None:
        return record.result.report
    return f"# {one_line(record.metadata.query)}\n\nThis session is not finished: {record.state}."

"""`create_research_report`: a session's report as a file, as written or as quotes only."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Literal

from mcp_types import CallToolResult
from pydantic import Field

from spadework.apps.mcp.answer_pages import stretch
from spadework.apps.mcp.call_runs import run
from spadework.apps.mcp.output_schemas import AsJson, Format, ReportAnswer, SessionId, build_answer
from spadework.apps.mcp.session_data import MOST_CHARS, load_record
from spadework.apps.mcp.tool_context import Call, ToolContext, door_of, fetch_session
from spadework.apps.outputs import write_output
from spadework.prompts import fence
from spadework.sessions.lookups.excerpts import of_quotes
from spadework.sessions.session import Session
from spadework.values import Result

#: Subfolder of a session for its reports.
FOLDER = "exports"

Composition = Literal["report", "quotes"]


async def create_research_report(
    call: Call,
    session_id: SessionId,
    format: Format = "md",  # noqa: A002  (the name the caller sees)
    composition: Annotated[
        Composition,
        Field(
            description="report: as it was written. quotes: all quotes of each topic, word for"
            " word."
        ),
    ] = "report",
    as_json: AsJson = False,
) -> Annotated[CallToolResult, ReportAnswer]:
    """Write the report of a research session to a file in its folder, and get its text.

    This closes an interrupted session with the evidence it has. To continue searching instead, call
    agentic_search with its session_id.
    """
    door = door_of(call)
    await fetch_session(door.settings, session_id)
    record = await asyncio.to_thread(load_record, door.settings.home, session_id)
    result = record.result or await _close_session(record.folder.name, door, call)
    return await asyncio.to_thread(
        _write_report, result, format, composition, record.folder, door, as_json=as_json
    )


async def _close_session(session_id: str, door: ToolContext, call: Call) -> Result:
    """Stop a session and return its result. Raises SessionBusy while it runs."""
    session = Session.resume(session_id, home=door.settings.home, clarify=False, approve=False)
    session.stop()
    return await run(session, call.report_progress)


def _write_report(
    result: Result,
    format_: str,
    composition: Composition,
    folder: Path,
    door: ToolContext,
    *,
    as_json: bool,
) -> CallToolResult:
    if composition == "quotes":
        result = of_quotes(result)
    file = folder / FOLDER / f"{composition}.{format_}"
    write_output(result, file, 0o600)
    shown = stretch(result.report, 0, MOST_CHARS, door.form_tokens)
    shaped = ReportAnswer(
        session_id=result.session_id,
        format=format_,
        file=f"{FOLDER}/{file.name}",
        path=str(file) if door.local else "",
        bytes=file.stat().st_size,
        report=shown.text,
        next_offset=shown.next_offset,
    )
    where = shaped.path or f"{shaped.file} in the folder of session {result.session_id}"
    more = f"\nThe rest: get_session_data, part report, offset={shown.next_offset}."
    more = "" if shown.next_offset is None else more
    text = f"Written: {where} ({shaped.bytes} bytes).{more}\n\n{fence(shaped.report)}"
    return build_answer(shaped, text, as_json=as_json)

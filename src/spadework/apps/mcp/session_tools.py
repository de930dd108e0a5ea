"""Tools for stored sessions: their data, and their report as a file."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult
from pydantic import Field

from spadework.apps.mcp.call_runs import LATEST, Call, ToolContext, door_of, fetch_session, run
from spadework.apps.mcp.tool_outputs import (
    AsJson,
    Format,
    ReportAnswer,
    SessionAnswer,
    SessionId,
    build_answer,
    leading_rows,
    stretch,
)
from spadework.apps.outputs import write_output
from spadework.errors import SessionError, SessionNotFound, SettingsError, must_be
from spadework.events import Planned, Read
from spadework.prompts import fence
from spadework.sessions.documents import of_quotes
from spadework.sessions.record.log import read_log, was_cancelled
from spadework.sessions.record.records import draft_of
from spadework.sessions.session import Session
from spadework.sessions.storage.files import (
    Metadata,
    is_held,
    read_ledger,
    read_metadata,
    read_page,
    read_progress,
    read_result,
    session_folder,
)
from spadework.sessions.storage.session_list import readable_sessions
from spadework.values import Result, Value
from spadework.visible import one_line

Part = Literal[
    "overview", "progress", "plan", "report", "evidence", "sources", "conflicts", "problems", "page"
]
CANCELLED = "cancelled"
#: Default maximum rows and characters in an answer.
MOST_ROWS, MOST_CHARS = 100, 30_000
_HASH = re.compile(r"[0-9a-f]{8,64}")
#: Metadata that callers do not get, because it is useful only on the server.
_PRIVATE = ("settings", "attachments")


@dataclass(frozen=True)
class Record:
    """A stored session. `result` is None until the session finishes."""

    folder: Path
    metadata: Metadata
    result: Result | None

    @property
    def state(self) -> str:
        """The status of the result or, if there is none, the state of the run."""
        if self.result:
            return self.result.status
        if is_held(self.folder):
            return "searching"
        return CANCELLED if was_cancelled(self.folder) else "cut off"


async def get_session_data(
    call: Call,
    session_id: SessionId,
    part: Annotated[Part, Field(description="Part of the session to read.")] = "overview",
    page: Annotated[
        str,
        Field(
            max_length=64,
            description='With part="page": number of a source, or content_hash of a quote.',
        ),
    ] = "",
    offset: Annotated[int, Field(ge=0, description="First row or character to return.")] = 0,
    limit: Annotated[
        int | None, Field(ge=1, le=100_000, description="Maximum rows, or characters of a text.")
    ] = None,
    as_json: AsJson = False,
) -> Annotated[CallToolResult, SessionAnswer]:
    """Read a session's stored data, even while it runs or after an interruption. Parts: overview
    (question, state, figures), progress (rounds and coverage), plan (topics and queries),
    report (the whole Markdown), evidence (numbered quotes with their positions in pages),
    sources, conflicts, problems, page (the whole text of one source). Long parts are paginated:
    call again with next_offset as offset.
    """
    door = door_of(call)
    return await asyncio.to_thread(
        _answer,
        await door.home_of(session_id),
        (session_id, part, page),
        (offset, limit, door.form_tokens),
        as_json=as_json,
    )


def load_record(home: Path, session_id: str) -> Record:
    """Return a session ("latest" is the newest). Raises SessionNotFound or SessionUnreadable."""
    if session_id == LATEST:
        newest = next(readable_sessions(home), None)
        if newest is None:
            raise SessionNotFound("There are no sessions yet.")
        session_id = newest.id
    folder = session_folder(home, session_id)
    return Record(folder, read_metadata(folder), read_result(folder))


def _answer(
    home: Path, asked: tuple[str, Part, str], limits: tuple[int, int | None, int], *, as_json: bool
) -> CallToolResult:
    session_id, part, page = asked
    offset, limit, tokens = limits
    record = load_record(home, session_id)
    given: dict[str, Any]
    if part in ("report", "page"):
        text = _report(record) if part == "report" else page_text(record, page)
        shown = stretch(text, offset, limit or MOST_CHARS, tokens, exact=limit is not None)
        given = {"text": shown.text, "total": shown.total, "offset": shown.offset}
        given |= {"next_offset": shown.next_offset}
    else:
        every = _ROWS[part](record)
        rows = leading_rows(every[offset : offset + (limit or MOST_ROWS)], tokens)
        end = offset + len(rows)
        given = {"rows": rows, "total": len(every), "offset": offset}
        given |= {"next_offset": end if end < len(every) else None}
    shaped = SessionAnswer(
        session_id=record.folder.name,
        part=part,
        state=record.state,
        question=one_line(record.metadata.query),
        **given,
    )
    return build_answer(shaped, _text(shaped), as_json=as_json)


def _report(record: Record) -> str:
    if record.result is not None:
        return record.result.report
    if draft := draft_of(record.folder):
        return draft
    raise SessionError(
        f"Session {record.folder.name} has no report yet. Call create_research_report to write"
        " one from the findings so far, or agentic_search with this session_id to continue."
    )


def page_text(record: Record, page: str) -> str:
    """Return the text of a page, named by its source number or the start of its content hash.
    Raises SettingsError if there is no such page or several pages match.
    """
    digest = page if _HASH.fullmatch(page) else ""
    if page.isascii() and page.isdigit() and len(page) < 8:
        known = (row.get("content_hash") for row in _sources(record) if row.get("n") == int(page))
        digest = next(filter(None, known), "")
    found = sorted((record.folder / "pages").glob(f"{digest}*.md")) if digest else []
    text = read_page(record.folder, found[0].stem) if len(found) == 1 else None
    if text is None:
        wanted = "the number of a source (part sources) or a content_hash (part evidence)"
        raise SettingsError(must_be("page", wanted, page))
    return text


def _overview(record: Record) -> list[dict[str, Any]]:
    facts = {
        name: value
        for name, value in record.metadata.model_dump(mode="json").items()
        if name not in _PRIVATE and value not in ("", {}, [], None)
    }
    counts = {name: len(_ROWS[name](record)) for name in ("evidence", "sources", "problems")}
    return [facts | {"state": record.state, "counts": counts}]


def _progress(record: Record) -> list[dict[str, Any]]:
    tracked = read_progress(record.folder).model_dump(mode="json")
    return [{"state": record.state, "topics": tracked["topics"]}, *tracked["rounds"]]


def _plan(record: Record) -> list[dict[str, Any]]:
    planned = [event.plan for event in read_log(record.folder) if isinstance(event, Planned)]
    return _dump_all(planned[-1].topics) if planned else []


def _sources(record: Record) -> list[dict[str, Any]]:
    if record.result is not None:
        return _dump_all(record.result.sources, exclude={"found_by"})
    return [
        {"url": event.url, "title": event.title, "chars": event.chars}
        for event in read_log(record.folder)
        if isinstance(event, Read) and not event.reason
    ]


def _dump_all(values: Iterable[Value], **how: Any) -> list[dict[str, Any]]:
    return [value.model_dump(mode="json", **how) for value in values]


_ROWS: dict[str, Callable[[Record], list[dict[str, Any]]]] = {
    "overview": _overview,
    "progress": _progress,
    "plan": _plan,
    "evidence": lambda record: _dump_all(read_ledger(record.folder)),
    "sources": _sources,
    "conflicts": lambda record: _dump_all(record.result.conflicts if record.result else ()),
    "problems": lambda record: _dump_all(record.result.problems if record.result else ()),
}


def _text(answer: SessionAnswer) -> str:
    more = "" if answer.next_offset is None else f" Continue with offset={answer.next_offset}."
    head = f"Session {answer.session_id} ({answer.state}): {answer.question}"
    if answer.part in ("report", "page"):
        end, shown = answer.offset + len(answer.text), answer.text
        span = f"characters {answer.offset} to {end} of {answer.total}."
    else:
        shown = "\n".join(json.dumps(row, ensure_ascii=False) for row in answer.rows)
        span = f"{len(answer.rows)} of {answer.total} rows, starting at row {answer.offset}."
    return f"{head}\n{answer.part}, {span}{more}\n\n{fence(shown)}"


FOLDER = "exports"

Composition = Literal["report", "quotes"]


async def create_research_report(
    call: Call,
    session_id: SessionId,
    format: Format = "md",  # noqa: A002  (the name the caller sees)
    composition: Annotated[
        Composition, Field(description="report: as written. quotes: all quotes for each topic.")
    ] = "report",
    as_json: AsJson = False,
) -> Annotated[CallToolResult, ReportAnswer]:
    """Write the report of a research session to a file in the session's folder, and get its text.
    This closes an interrupted session with the evidence it has. To continue searching instead,
    call agentic_search with its session_id.
    """
    door = door_of(call)
    await fetch_session(door.settings, session_id)
    record = await asyncio.to_thread(load_record, door.settings.home, session_id)
    result = record.result or await _close_session(record.folder.name, door, call)
    return await asyncio.to_thread(
        _write_report, result, format, composition, record.folder, door, as_json=as_json
    )


async def _close_session(session_id: str, door: ToolContext, call: Call) -> Result:
    home, common = door.settings.home, door.settings.common
    session = Session.resume(session_id, home=home, common=common, clarify=False, approve=False)
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
    more = f'\nFor the rest, call get_session_data with part="report", offset={shown.next_offset}.'
    more = "" if shown.next_offset is None else more
    text = f"Wrote {where} ({shaped.bytes} bytes).{more}\n\n{fence(shaped.report)}"
    return build_answer(shaped, text, as_json=as_json)

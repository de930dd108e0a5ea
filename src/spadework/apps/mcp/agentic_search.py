"""`agentic_search`: the whole research loop, with a JSON result within the caller's tokens."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from spadework.apps.mcp.answer_pages import first_within, tokens_of
from spadework.apps.mcp.call_runs import run
from spadework.apps.mcp.output_schemas import (
    Completeness,
    ConflictShape,
    Iterations,
    Query,
    ResearchAnswer,
    ResultShape,
    SideShape,
    TopicShape,
    UnreadShape,
    build_answer,
)
from spadework.apps.mcp.tool_context import Call, ToolContext, door_of
from spadework.backend import backend_of
from spadework.errors import SessionUnreadable
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_page, session_folder
from spadework.settings import Settings
from spadework.tools.export.compressed import Compressed, compress_result
from spadework.tools.text.markdown import one_line
from spadework.values import CoveredTopic, Problem, Result, Side, Source, Unread

#: Maximum shares of a result's tokens for its lists; report and sources get the rest.
LIST_SHARES = {"topics": 0.12, "conflicts": 0.1, "unread": 0.1, "problems": 0.1}
#: Characters per sentence in a list, and sentences per topic.
LINE_CHARS, MOST_GAPS = 240, 5
#: Fields copied from the result.
_AS_IT_IS = (
    "session_id",
    "status",
    "stopped_by",
    "mode",
    "confidence",
    "completeness",
    "usage",
    "iterations",
)

Minutes = Annotated[
    float | None, Field(gt=0, description="Most minutes, within the server's limit.")
]
Resumed = Annotated[
    str, Field(max_length=100, description="Take up this session, which was cut off.")
]
Followed = Annotated[
    str,
    Field(
        max_length=100,
        description="Follow up this finished session: revise its report, or use its pages first.",
    ),
]
Instructions = Annotated[
    str, Field(max_length=4_000, description="Length, form, language and readers of the report.")
]


async def agentic_search(
    call: Call,
    query: Query,
    completeness_threshold: Completeness = None,
    max_iterations: Iterations = None,
    max_minutes: Minutes = None,
    session_id: Resumed = "",
    follows: Followed = "",
    instructions: Instructions = "",
) -> Annotated[CallToolResult, ResearchAnswer]:
    """Research a question thoroughly and get a report in which every factual sentence cites words
    that are in a source.

    Use it for questions that need several sources or must be right; for one known page use
    advanced_scrape_url, for links serp_search. It takes seconds to minutes, with progress. Returns
    JSON: the report with [n] marks, what was read, how well each topic is covered, disagreements,
    and problems. get_session_data reads what was left out.
    """
    door = door_of(call)
    settings = door.settings.with_(
        completeness=completeness_threshold,
        iterations=max_iterations,
        minutes=min(max_minutes or door.settings.minutes, door.settings.minutes),
        # Nobody can answer.
        clarify=False,
        approve=False,
    )
    for named in filter(None, (session_id, follows)):
        await backend_of(settings).find(settings, named)
    session = _session(query, session_id, settings, follows, instructions)
    result = await run(session, call.report_progress)
    return await asyncio.to_thread(_answer, result, door)


def _session(query: str, session_id: str, settings: Settings, follows: str, wishes: str) -> Session:
    """Return a new or an interrupted session. Raises SessionNotFound, SettingsError."""
    if not session_id:
        made = Session.start(query, settings=settings, follows=follows)
        return made.wishing(wishes)
    session_folder(settings.home, session_id)
    return Session.resume(
        session_id, home=settings.home, minutes=settings.minutes, clarify=False, approve=False
    )


def _answer(result: Result, door: ToolContext) -> CallToolResult:
    """Return the response to a call: one JSON object, as text and as structured content.

    A failed run is an error, and so is one without any source because search failed; but a run out
    of time is not, since its status says so.
    """
    in_vain = not result.sources and any(problem.stage == "search" for problem in result.problems)
    failed = result.status == "failed" or (in_vain and result.status != "time_limited")
    folder = result.session_dir if door.local else ""
    shaped = structure_result(result, _texts(result), door.form_tokens, folder)
    return build_answer(shaped, "", as_json=True, failed=failed)


def structure_result(
    result: Result, texts: Mapping[str, str], tokens: int, folder: str = ""
) -> ResearchAnswer:
    """Return a result within `tokens`, with as much as fits of its lists, its report and the
    `texts` of its pages (by content hash). `folder` holds its files, "" for callers that cannot
    open them.
    """
    lists: dict[str, list[BaseModel]] = {
        "topics": [_topic(topic) for topic in result.topics],
        "conflicts": _conflicts(result),
        "unread": [shape_unread(one) for one in result.unread],
        "problems": [
            Problem(**{name: _line(said) for name, said in problem.model_dump().items()})
            for problem in result.problems
        ],
    }
    shown = {
        name: first_within(rows, int(LIST_SHARES[name] * tokens)) for name, rows in lists.items()
    }
    left_out = [
        f"{len(rows) - len(shown[name])} of {len(rows)} {name}"
        for name, rows in lists.items()
        if len(shown[name]) < len(rows)
    ]
    frame = _frame(result, folder).model_copy(update={**shown, "left_out": left_out})

    def filled(part: Compressed) -> ResearchAnswer:
        update = {
            "report": part.report,
            "results": [_shape(*excerpt) for excerpt in part.excerpts],
            "left_out": [*left_out, *part.left_out],
        }
        return frame.model_copy(update=update)

    def size(part: Compressed) -> int:
        return tokens_of(filled(part).model_dump(mode="json"))

    return filled(compress_result(result, texts, size, tokens))


def _frame(result: Result, folder: str) -> ResearchAnswer:
    """Return the response without lists, report and source texts."""
    given: dict[str, Any] = {name: getattr(result, name) for name in _AS_IT_IS}
    return ResearchAnswer(
        **given,
        success=result.status != "failed" and bool(result.sources),
        question=_line(result.question),
        seconds=result.timings.get("total", 0.0),
        folder=folder,
    )


def _topic(topic: CoveredTopic) -> TopicShape:
    gaps = [_line(gap) for gap in topic.gaps[:MOST_GAPS]]
    return TopicShape(
        name=_line(topic.name),
        covered=topic.covered,
        score=topic.score,
        quotes=len(topic.evidence),
        gaps=gaps,
    )


def _shape(source: Source, content: str) -> ResultShape:
    return ResultShape(
        n=source.n,
        url=source.url,
        title=_line(source.title),
        content=content,
        domain=_line(source.domain),
        published_at=source.published_at.date().isoformat() if source.published_at else None,
        relevance=round(source.relevance, 3),
        trust=round(source.trust, 3),
        trust_parts=source.trust_parts,
    )


def shape_unread(unread: Unread) -> UnreadShape:
    """Return what was found but not read, on single lines."""
    told = unread.model_dump(exclude={"topic", "score"})
    score = round(unread.score, 3)
    return UnreadShape(**{name: _line(text) for name, text in told.items()}, score=score)


def _conflicts(result: Result) -> list[BaseModel]:
    ledger = {e.id: e for topic in result.topics for e in topic.evidence}
    numbers = {source.url: source.n for source in result.sources}

    def shape(side: Side) -> SideShape:
        urls = dict.fromkeys(ledger[id_].url for id_ in side.evidence_ids if id_ in ledger)
        cited = [numbers[url] for url in urls if url in numbers]
        return SideShape(claim=_line(side.claim), sources=cited, weight=side.weight)

    return [
        ConflictShape(
            topic=_line(conflict.topic), kind=conflict.kind, sides=[*map(shape, conflict.sides)]
        )
        for conflict in result.conflicts
    ]


def _line(text: str) -> str:
    return one_line(text, LINE_CHARS)


def _texts(result: Result) -> dict[str, str]:
    folder = Path(result.session_dir)
    texts = {}
    for digest in dict.fromkeys(source.content_hash for source in result.sources):
        with suppress(SessionUnreadable):
            if (text := read_page(folder, digest)) is not None:
                texts[digest] = text
    return texts

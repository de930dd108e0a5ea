"""`agentic_search`: the whole loop, its answer compressed for the calling model."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from spadework.apps.mcp.call_runs import run
from spadework.apps.mcp.output_schemas import (
    AsJson,
    Completeness,
    ConflictShape,
    Iterations,
    Query,
    ResearchAnswer,
    ResultShape,
    SideShape,
    SourceShape,
    TopicShape,
    build_answer,
)
from spadework.apps.mcp.paging import leading, tokens_of
from spadework.apps.mcp.tool_context import Call, ToolContext, door_of
from spadework.errors import SessionUnreadable
from spadework.prompts import fence
from spadework.sessions.files import read_page, session_folder
from spadework.sessions.machines.finding import find
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.export.compressed import compress_result
from spadework.tools.export.fitting import largest, shorten_report
from spadework.tools.text.markdown_marks import one_line
from spadework.tools.text.tokens import count
from spadework.values import CoveredTopic, Problem, Result, Side, Source

#: Of the tokens of an answer, the structured part takes at most this share; of that its lists take
#: these, and the report what is left.
STRUCTURED_SHARE = 0.5
LIST_SHARES = {"topics": 0.12, "sources": 0.25, "conflicts": 0.1, "problems": 0.1}
#: Tokens that naming what is left out may take.
LEFT_OUT_TOKENS = 80
#: Characters of a sentence in a list, and sentences about one topic.
LINE_CHARS, MOST_GAPS = 240, 5
#: What an answer takes from a result as it is.
_AS_IT_IS = ("session_id", "status", "stopped_by", "mode", "confidence", "usage", "iterations")
#: Cited pages in `results`, which some clients look for; `sources` has all of them.
MOST_RESULTS = 5


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
        description=(
            "Follow up this finished session: its report is revised (shorter, in German, …),"
            " or its pages are used first."
        ),
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
    as_json: AsJson = False,
) -> Annotated[CallToolResult, ResearchAnswer]:
    """Research a question thoroughly and get a report in which every sentence of fact cites words
    that stand in a source.

    Use it for questions that need several sources or must be right; for one known page use
    advanced_scrape_url, for links serp_search. It plans topics, searches, reads, checks what quotes
    prove and searches again for what is missing: seconds to minutes, with progress. You get the
    report with [n] marks, its sources, how far each topic is covered, disagreements, and what was
    not found or went wrong. get_session_data reads more of it.
    """
    door = door_of(call)
    settings = door.settings.with_(
        completeness=completeness_threshold,
        iterations=max_iterations,
        minutes=min(max_minutes or door.settings.minutes, door.settings.minutes),
        # Nobody is there to answer.
        clarify=False,
        approve=False,
    )
    for named in filter(None, (session_id, follows)):
        await find(settings, named)
    session = _session(query, session_id, settings, follows, instructions)
    result = await run(session, call.report_progress)
    return await asyncio.to_thread(_answer, result, door, as_json=as_json)


def _session(query: str, session_id: str, settings: Settings, follows: str, wishes: str) -> Session:
    """A new session, or one that was cut off. Raises SessionNotFound, SettingsError."""
    if not session_id:
        made = Session.start(query, settings=settings, follows=follows)
        return made.wishing(wishes)
    session_folder(settings.home, session_id)
    return Session.resume(
        session_id, home=settings.home, minutes=settings.minutes, clarify=False, approve=False
    )


def _answer(result: Result, door: ToolContext, *, as_json: bool) -> CallToolResult:
    """The answer to a call: text and structured content, together within the tokens of an answer.

    A run that failed is an error, and so is one without a single source because searching failed.
    One whose time was over is none: its status says that there was no time, and its text for what.
    """
    in_vain = not result.sources and any(problem.stage == "search" for problem in result.problems)
    failed = result.status == "failed" or (in_vain and result.status != "time_limited")
    if as_json:
        shaped = structure_result(result, door.form_tokens)
        return build_answer(shaped, "", as_json=True, failed=failed)
    limit = door.settings.answer_tokens
    shaped = structure_result(result, int(limit * STRUCTURED_SHARE))
    room = limit - count(shaped.model_dump_json())
    where = result.session_dir if door.local else ""
    text = compress_result(result, _texts(result), limit=room, fenced=fence, where=where)
    return build_answer(shaped, text, as_json=False, failed=failed)


def structure_result(result: Result, tokens: int) -> ResearchAnswer:
    """A result as structured content of at most `tokens`, with what fits of lists and report."""
    lists: dict[str, list[BaseModel]] = {
        "topics": [_topic(topic) for topic in result.topics],
        "sources": [_source(source) for source in result.sources],
        "conflicts": _conflicts(result),
        "problems": [
            Problem(**{name: _line(said) for name, said in problem.model_dump().items()})
            for problem in result.problems
        ],
    }
    shown = {name: leading(rows, int(LIST_SHARES[name] * tokens)) for name, rows in lists.items()}
    left_out = [
        f"{len(rows) - len(shown[name])} of {len(rows)} {name}"
        for name, rows in lists.items()
        if len(shown[name]) < len(rows)
    ]
    made = _shape_answer(result, shown)
    whole = result.report
    room = tokens - count(made.model_dump_json()) - LEFT_OUT_TOKENS
    chars = largest(len(whole), lambda n: tokens_of(shorten_report(whole, n)) <= room)
    if chars < len(whole):
        left_out.append("the end of the report")
    return made.model_copy(update={"report": shorten_report(whole, chars), "left_out": left_out})


def _shape_answer(result: Result, lists: Mapping[str, Sequence[BaseModel]]) -> ResearchAnswer:
    covered = sum(topic.covered for topic in result.topics)
    given: dict[str, Any] = {name: getattr(result, name) for name in _AS_IT_IS} | {
        "question": _line(result.question),
        "success": result.status != "failed" and bool(result.sources),
        "completeness": round(covered / max(1, len(result.topics)), 3),
        "results": [
            ResultShape(title=_line(source.title), url=source.url)
            for source in result.sources[:MOST_RESULTS]
        ],
        "report": "",
        "seconds": result.timings.get("total", 0.0),
    }
    return ResearchAnswer(**{**given, **lists})


def _topic(topic: CoveredTopic) -> TopicShape:
    gaps = [_line(gap) for gap in topic.gaps[:MOST_GAPS]]
    return TopicShape(
        name=_line(topic.name),
        covered=topic.covered,
        score=topic.score,
        quotes=len(topic.evidence),
        gaps=gaps,
    )


def _source(source: Source) -> SourceShape:
    date = source.published_at.date().isoformat() if source.published_at else None
    return SourceShape(
        n=source.n,
        url=source.url,
        title=_line(source.title),
        domain=_line(source.domain),
        published_at=date,
        trust=round(source.trust, 3),
        relevance=round(source.relevance, 3),
    )


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
    """The stored pages of the result, as far as they are there."""
    folder = Path(result.session_dir)
    texts = {}
    for digest in dict.fromkeys(source.content_hash for source in result.sources):
        with suppress(SessionUnreadable):
            if (text := read_page(folder, digest)) is not None:
                texts[digest] = text
    return texts

"""Tools that search and read, returning a report or page contents."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import BaseModel, Field

from spadework.apps.mcp.call_runs import Call, ToolContext, door_of, run
from spadework.apps.mcp.page_tools import facts_of, headline
from spadework.apps.mcp.tool_outputs import (
    AsJson,
    Completeness,
    ConflictShape,
    GatheredAnswer,
    GatheredPage,
    Iterations,
    Query,
    ResearchAnswer,
    ResultShape,
    SideShape,
    TopicShape,
    UnreadShape,
    build_answer,
    first_within,
    tokens_of,
)
from spadework.apps.messages import number_of
from spadework.backend import backend_of
from spadework.errors import SessionUnreadable
from spadework.prompts import fence, plain
from spadework.sessions.documents import excerpt
from spadework.sessions.page_sessions import (
    MOST_PAGES,
    PAGES,
    FullPage,
    GatheredPages,
    gathered_pages,
    gathering_session,
)
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_page, session_folder
from spadework.settings import Settings
from spadework.tools.export.compressed import Compressed, compress_result
from spadework.values import CoveredTopic, Problem, Result, Side, Source, Unread
from spadework.visible import one_line

#: Maximum fraction of an output's tokens to spend on each list.
LIST_SHARES = {"topics": 0.12, "conflicts": 0.1, "unread": 0.1, "problems": 0.1}
LINE_CHARS, MOST_GAPS = 240, 5
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
    float | None, Field(gt=0, description="Maximum minutes, up to the server's limit.")
]
Resumed = Annotated[
    str, Field(max_length=100, description="Id of an unfinished session to resume.")
]
Followed = Annotated[
    str, Field(max_length=100, description="Id of a finished session to follow up on.")
]
Instructions = Annotated[
    str, Field(max_length=4_000, description="Length, form, language and audience of the report.")
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
    """Research a question thoroughly and get a report in which every factual sentence cites the
    exact words of a source.

    Use it for questions that need several sources or must be right. For one known page, use
    advanced_scrape_url; for links, serp_search. It takes seconds to minutes and reports progress.
    Returns JSON: the report with [n] marks, what was read, how well each topic is covered,
    disagreements, and problems. For what was left out, use get_session_data.
    """
    door = door_of(call)
    settings = door.settings.with_(
        completeness=completeness_threshold,
        iterations=max_iterations,
        minutes=min(max_minutes or door.settings.minutes, door.settings.minutes),
        # There is nobody to answer questions.
        clarify=False,
        approve=False,
    )
    for named in filter(None, (session_id, follows)):
        await backend_of(settings).find(settings, named)
    session = _session(query, session_id, settings, follows, instructions)
    result = await run(session, call.report_progress)
    return await asyncio.to_thread(_answer, result, door)


def _session(query: str, session_id: str, settings: Settings, follows: str, wishes: str) -> Session:
    if not session_id:
        made = Session.start(query, settings=settings, follows=follows)
        return made.wishing(wishes)
    session_folder(settings.home, session_id)
    home, common = settings.home, settings.common
    asked: dict[str, Any] = {"minutes": settings.minutes, "clarify": False, "approve": False}
    return Session.resume(session_id, home=home, common=common, **asked)


def _answer(result: Result, door: ToolContext) -> CallToolResult:
    """Convert a research result to a tool result. A run that failed, or read nothing because
    searches failed, is an error.
    """
    in_vain = not result.sources and any(problem.stage == "search" for problem in result.problems)
    failed = result.status == "failed" or (in_vain and result.status != "time_limited")
    folder = result.session_dir if door.local else ""
    shaped = structure_result(result, _texts(result), door.form_tokens, folder)
    return build_answer(shaped, "", as_json=True, failed=failed)


def structure_result(
    result: Result, texts: Mapping[str, str], tokens: int, folder: str = ""
) -> ResearchAnswer:
    """Fit a result into `tokens` tokens by cutting its lists, report and page texts. `texts` maps
    content hashes to page texts. `folder` is the session's folder, or "" for callers that
    cannot open it.
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
        kind=source.kind,
        published_at=source.published_at.date().isoformat() if source.published_at else None,
        relevance=round(source.relevance, 3),
        trust=round(source.trust, 3),
        trust_parts=source.trust_parts,
    )


def shape_unread(unread: Unread) -> UnreadShape:
    """Convert an unread hit to its output shape."""
    told = unread.model_dump(exclude={"topic", "score", "late"})
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


MOST_UNREAD = 20


async def intelligent_research_with_advanced_scraping(
    call: Call,
    query: Query,
    max_pages: Annotated[
        int,
        Field(ge=1, le=MOST_PAGES, description="Maximum pages. With fewer, more of each is shown."),
    ] = PAGES,
    provider: Annotated[str, Field(max_length=200, description="Same as in serp_search.")] = "",
    as_json: AsJson = False,
) -> Annotated[CallToolResult, GatheredAnswer]:
    """Search, read the best pages concurrently and get their cleaned contents, without a report.

    Use it when you want the material rather than a conclusion. For a checked report with
    citations, use agentic_search. A page that fails is replaced by the next best. Pages that need
    a browser are opened in one, if available. Long pages are cut to the parts that match the query
    best.
    """
    door = door_of(call)
    settings = door.settings.with_(search=provider or None)
    session = gathering_session(query, pages=max_pages, settings=settings)
    result = await run(session, call.report_progress)
    found = await gathered_pages(session, result)
    return await asyncio.to_thread(_pages_answer, query, found, door.form_tokens, as_json=as_json)


def _pages_answer(
    query: str, found: GatheredPages, tokens: int, *, as_json: bool
) -> CallToolResult:
    result = found.result
    numbers = {source.url: source.n for source in result.sources}
    share = tokens // max(1, len(found.pages))
    failed = {f"{p.subject}: {p.reason}": None for p in result.problems if p.stage == "search"}
    beside = [
        f"{p.reason} {p.effect}".rstrip()
        for p in result.problems
        if p.stage not in ("search", "read")
    ]
    shaped = GatheredAnswer(
        session_id=result.session_id,
        query=one_line(query),
        searched=list(result.searched),
        pages=[_page(numbers[read.page.url], read, query, share) for read in found.pages],
        unread=[shape_unread(one) for one in found.unread[:MOST_UNREAD]],
        failed=list(failed),
        notices=beside,
    )
    return build_answer(shaped, _text(shaped), as_json=as_json)


def _page(n: int, read: FullPage, query: str, tokens: int) -> GatheredPage:
    facts, text = facts_of(read.page), read.text
    room = tokens - tokens_of(facts) - 60
    content = excerpt(text, query, lambda shown: tokens_of(shown) <= room)
    return GatheredPage(
        **facts, n=n, relevance=read.page.relevance, whole=content == text, content=content
    )


def _text(answer: GatheredAnswer) -> str:
    read, by = number_of(len(answer.pages), "page"), "; ".join(answer.searched)
    parts = [
        f"{read} read for “{answer.query}”, found by {by}. Saved in session {answer.session_id}.",
        *answer.notices,
    ]
    for page in answer.pages:
        more = (
            f"\nOnly parts are shown. For all {page.chars} characters, call get_session_data with"
            f' part="page", page="{page.n}".'
        )
        more = "" if page.whole else more
        parts.append(f"[{page.n}]{more}\n" + fence(f"{headline(page)}\n\n{page.content}"))
    if not answer.pages:
        parts.append("No page could be read. Try different words, or another provider.")
    parts += [plain(f"Not read: {page.url}: {page.reason}") for page in answer.unread]
    parts += [plain(f"Failed: {failure}") for failure in answer.failed]
    return "\n\n".join(parts)

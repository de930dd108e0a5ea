"""`intelligent_research_with_advanced_scraping`: search and read the best pages, without a
report.
"""

from __future__ import annotations

import asyncio
from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from spadework.apps.mcp.agentic_search import shape_unread
from spadework.apps.mcp.answer_pages import tokens_of
from spadework.apps.mcp.call_runs import run
from spadework.apps.mcp.output_schemas import (
    AsJson,
    GatheredAnswer,
    GatheredPage,
    Query,
    build_answer,
)
from spadework.apps.mcp.scrape_url import facts_of, headline
from spadework.apps.mcp.tool_context import Call, door_of
from spadework.apps.messages import number_of
from spadework.prompts import fence, plain
from spadework.sessions.lookups.excerpts import excerpt
from spadework.sessions.lookups.page_sessions import (
    MOST_PAGES,
    PAGES,
    GatheredPages,
    PageText,
    gathered_pages,
    gathering_session,
)
from spadework.tools.text.markdown import one_line

#: Maximum unread pages listed.
MOST_UNREAD = 20


async def intelligent_research_with_advanced_scraping(
    call: Call,
    query: Query,
    max_pages: Annotated[
        int, Field(ge=1, le=MOST_PAGES, description="Most pages; of fewer there is more of each.")
    ] = PAGES,
    provider: Annotated[str, Field(max_length=200, description="As in serp_search.")] = "",
    as_json: AsJson = False,
) -> Annotated[CallToolResult, GatheredAnswer]:
    """Search, read the best pages concurrently and get their cleaned contents; you judge them
    yourself, no report is written.

    Use it when you want the material rather than a conclusion; for a checked report with citations
    use agentic_search. A page that fails is replaced by the next best; pages that need it are
    opened in a browser, if the server has one. Long pages are cut to the parts that fit the query
    best.
    """
    door = door_of(call)
    settings = door.settings.with_(search=provider or None)
    session = gathering_session(query, pages=max_pages, settings=settings)
    result = await run(session, call.report_progress)
    found = await gathered_pages(session, result)
    return await asyncio.to_thread(_answer, query, found, door.form_tokens, as_json=as_json)


def _answer(query: str, found: GatheredPages, tokens: int, *, as_json: bool) -> CallToolResult:
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


def _page(n: int, read: PageText, query: str, tokens: int) -> GatheredPage:
    facts, text = facts_of(read.page), read.text
    room = tokens - tokens_of(facts) - 60
    content = excerpt(text, query, lambda shown: tokens_of(shown) <= room)
    return GatheredPage(
        **facts, n=n, relevance=read.page.relevance, whole=content == text, content=content
    )


def _text(answer: GatheredAnswer) -> str:
    read, by = number_of(len(answer.pages), "page"), "; ".join(answer.searched)
    parts = [
        f"{read} read for “{answer.query}”, found by {by}; kept in session {answer.session_id}.",
        *answer.notices,
    ]
    for page in answer.pages:
        more = (
            f'\nPieces of it are shown; get_session_data, part page, page "{page.n}", gives all'
            f" {page.chars} characters."
        )
        more = "" if page.whole else more
        parts.append(f"[{page.n}]{more}\n" + fence(f"{headline(page)}\n\n{page.content}"))
    if not answer.pages:
        parts.append("No page could be read. Try other words, or another provider.")
    parts += [plain(f"Not read: {page.url}: {page.reason}") for page in answer.unread]
    parts += [plain(f"Not answered: {failure}") for failure in answer.failed]
    return "\n\n".join(parts)

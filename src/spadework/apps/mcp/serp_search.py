"""`serp_search`: ranked hits with the parts of their relevance."""

from __future__ import annotations

import asyncio
from typing import Annotated

from mcp_types import CallToolResult
from pydantic import Field

from spadework.apps.mcp.answer_pages import first_within
from spadework.apps.mcp.call_runs import Teller
from spadework.apps.mcp.output_schemas import (
    AsJson,
    HitShape,
    Query,
    RankParts,
    SearchAnswer,
    build_answer,
)
from spadework.apps.mcp.tool_context import Call, door_of
from spadework.errors import SearchError
from spadework.prompts import fence, plain
from spadework.sessions.lookups.search_only import Looked, Ranked, search
from spadework.tools.text.markdown import one_line

#: Placeholder for the names of a server's providers.
OFFERED = "PROVIDERS"
SNIPPET_CHARS = 600


async def serp_search(
    call: Call,
    query: Query,
    max_results: Annotated[int, Field(ge=1, le=50, description="Most hits in the answer.")] = 10,
    provider: Annotated[
        str,
        Field(
            max_length=200,
            description=f"One or several with commas: {OFFERED}. Empty: those of the server.",
        ),
    ] = "",
    country: Annotated[str, Field(max_length=20, description="Two letters, such as de.")] = "",
    language: Annotated[str, Field(max_length=20, description="Such as de.")] = "",
    news: Annotated[bool, Field(description="News alone.")] = False,
    sites: Annotated[
        str, Field(max_length=2_000, description="Domains to keep to, with commas.")
    ] = "",
    since: Annotated[str, Field(max_length=20, description="First day, YYYY-MM-DD.")] = "",
    until: Annotated[str, Field(max_length=20, description="Last day.")] = "",
    as_json: AsJson = False,
) -> Annotated[CallToolResult, SearchAnswer]:
    """Search the web, or the server's library, and get ranked links with snippets from all
    providers; no page is read. To read one, call advanced_scrape_url.
    """
    door = door_of(call)
    settings = door.settings.with_(
        search=provider or None,
        search_results=max(max_results, door.settings.search_results),
        search_country=country or None,
        search_language=language or None,
        search_news=news or None,
        search_since=since or None,
        search_until=until or None,
    )
    await Teller(call.report_progress, settings.search_seconds).say(f"Searching for “{query}”")
    # Callers may narrow the server's settings, but not widen them.
    within = settings.with_(search_sites=sites).search_sites if sites else ()
    looked = await search(query, settings, sites=within)
    if not looked.answered:
        raise SearchError(f"No search was answered. {' '.join(looked.failed)}")
    return await asyncio.to_thread(
        _answer, query, looked, max_results, door.form_tokens, as_json=as_json
    )


def _answer(query: str, looked: Looked, most: int, tokens: int, *, as_json: bool) -> CallToolResult:
    rows = [_shape(n, one) for n, one in enumerate(looked.hits[:most], 1)]
    shaped = SearchAnswer(
        query=one_line(query),
        searched=list(looked.searched),
        hits=first_within(rows, tokens),
        failed=list(looked.failed),
        notices=list(looked.notices),
    )
    return build_answer(shaped, _text(shaped), as_json=as_json)


def _shape(rank: int, one: Ranked) -> HitShape:
    hit = one.hit
    return HitShape(
        rank=rank,
        url=hit.url,
        title=hit.title,
        snippet=one_line(hit.snippet, SNIPPET_CHARS),
        published_at=hit.published_at.date().isoformat() if hit.published_at else None,
        relevance=hit.relevance,
        parts=RankParts(**{name: round(share, 3) for name, share in one.parts.items()}),
        fused=round(hit.rrf, 5),
        providers=[f"{found.provider}:{found.rank}" for found in hit.found_by],
    )


def _text(answer: SearchAnswer) -> str:
    found = f"{len(answer.hits)} hits for “{answer.query}” from {'; '.join(answer.searched)}."
    notes = [*answer.notices, *(plain(f"Not answered: {failure}") for failure in answer.failed)]
    body = (
        fence("\n".join(map(_lines, answer.hits)))
        if answer.hits
        else "Nothing was found: try other or fewer words, or another provider."
    )
    return "\n".join([found, *notes, "", body, "", "Read a page with advanced_scrape_url(url)."])


def _lines(hit: HitShape) -> str:
    parts = f"position {hit.parts.position}, title {hit.parts.title}, snippet {hit.parts.snippet}"
    dated = [hit.published_at] if hit.published_at else []
    facts = ", ".join([f"relevance {hit.relevance} ({parts})", *hit.providers, *dated])
    return f"{hit.rank}. {hit.title or hit.url}\n   {hit.url}\n   {facts}\n   {hit.snippet}"

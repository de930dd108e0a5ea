"""`serp_search`: ranked hits, with what their rank is made of."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from spadework.apps.mcp.door import Call, door_of
from spadework.apps.mcp.looking import Looked, look, shelf
from spadework.apps.mcp.paging import leading
from spadework.apps.mcp.shapes import HitShape, Query, RankParts, SearchAnswer
from spadework.apps.mcp.telling import Teller
from spadework.prompts import fenced, plain
from spadework.tools.inline import one_line
from spadework.tools.rank import position_score, query_terms, relevance
from spadework.values import Hit


async def serp_search(
    call: Call,
    query: Query,
    max_results: Annotated[int, Field(ge=1, le=50, description="Most hits in the answer.")] = 10,
    provider: Annotated[
        str,
        Field(
            max_length=200,
            description=(
                "One or several with commas: searxng, duckduckgo, serper, tavily, brave, arxiv,"
                " wikipedia, openalex, pubmed, "
                "library. Empty: those the server is set up with."
            ),
        ),
    ] = "",
) -> Annotated[CallToolResult, SearchAnswer]:
    """Search the web, or the server's library, and get ranked links with snippets; nothing is read.

    Use it to find addresses; read one with advanced_scrape_url, or use
    intelligent_research_with_advanced_scraping to search and read in one call. All providers are
    asked at once and their results fused. Each hit says what its relevance is made of.
    """
    settings = door_of(call).settings
    settings = settings.with_(
        search=provider or None, search_results=max(max_results, settings.search_results)
    )
    await Teller(call.report_progress, settings.search_seconds).say(f"Searching for “{query}”")
    async with shelf(settings) as books:
        looked = await look(query, settings, books)
    return await asyncio.to_thread(_answer, query, looked, max_results, door_of(call).form_tokens)


def _answer(query: str, looked: Looked, most: int, tokens: int) -> CallToolResult:
    terms = query_terms(query)
    shown = leading([_shape(n, hit, terms) for n, hit in enumerate(looked.hits[:most], 1)], tokens)
    shaped = SearchAnswer(
        query=one_line(query),
        searched=list(looked.searched),
        hits=shown,
        failed=list(looked.failed),
        notices=list(looked.notices),
    )
    return CallToolResult(
        content=[TextContent(type="text", text=_text(shaped))],
        structured_content=shaped.model_dump(mode="json"),
    )


def _shape(rank: int, hit: Hit, terms: Sequence[str]) -> HitShape:
    return HitShape(
        rank=rank,
        url=hit.url,
        title=hit.title,
        snippet=hit.snippet,
        published_at=hit.published_at.date().isoformat() if hit.published_at else None,
        relevance=hit.relevance,
        parts=_parts(hit, terms),
        fused=round(hit.rrf, 5),
        providers=[f"{found.provider}:{found.rank}" for found in hit.found_by],
    )


def _parts(hit: Hit, terms: Sequence[str]) -> RankParts:
    """The three scores whose weighted sum the relevance is; without terms only the position
    counts.
    """
    return RankParts(
        position=round(position_score(hit.position), 3),
        title=_share(hit.title, terms),
        snippet=_share(hit.snippet, terms),
    )


def _share(text: str, terms: Sequence[str]) -> float:
    """The share of the terms that stand in a text."""
    return (
        round(sum(relevance(text, text, 1, [term]) == 1.0 for term in terms) / len(terms), 3)
        if terms
        else 0.0
    )


def _text(answer: SearchAnswer) -> str:
    found = f"{len(answer.hits)} hits for “{answer.query}” from {'; '.join(answer.searched)}."
    notes = [*answer.notices, *(plain(f"Not answered: {failure}") for failure in answer.failed)]
    body = (
        fenced("\n".join(map(_lines, answer.hits)))
        if answer.hits
        else "Nothing was found: try other or fewer words, or another provider."
    )
    return "\n".join([found, *notes, "", body, "", "Read a page with advanced_scrape_url(url)."])


def _lines(hit: HitShape) -> str:
    parts = f"position {hit.parts.position}, title {hit.parts.title}, snippet {hit.parts.snippet}"
    facts = ", ".join(
        [
            f"relevance {hit.relevance} ({parts})",
            *hit.providers,
            *([hit.published_at] if hit.published_at else []),
        ]
    )
    return f"{hit.rank}. {hit.title or hit.url}\n   {hit.url}\n   {facts}\n   {hit.snippet}"

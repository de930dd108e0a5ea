"""Tools for pages: `advanced_scrape_url` (one page as Markdown) and `serp_search` (hits)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field

from spadework.apps.mcp.call_runs import Call, Teller, ToolContext, door_of, run
from spadework.apps.mcp.tool_outputs import (
    AsJson,
    HitShape,
    LinkShape,
    PageFacts,
    Query,
    RankParts,
    ScrapedPage,
    SearchAnswer,
    build_answer,
    first_within,
    stretch,
)
from spadework.apps.messages import number_of
from spadework.errors import FetchError, NotAllowed, SearchError, SettingsError
from spadework.prompts import fence, plain
from spadework.sessions.page_sessions import (
    READ_SECONDS,
    FullPage,
    begun_with,
    page_of,
    reading_session,
)
from spadework.sessions.search_only import SEARCH_SECONDS, Looked, Ranked, hits_to_request, search
from spadework.values import Page
from spadework.visible import one_line

#: Maximum fraction of an output's tokens to spend on links.
LINKS_SHARE = 0.1
LINK_CHARS = 100


async def advanced_scrape_url(
    call: Call,
    url: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4_000,
            description="An http or https URL, or the library:// URL of a hit.",
        ),
    ],
    offset: Annotated[
        int, Field(ge=0, description="Character to start at, such as the previous next_offset.")
    ] = 0,
    max_chars: Annotated[
        int, Field(ge=100, le=100_000, description="Maximum characters to return.")
    ] = 20_000,
    as_json: AsJson = False,
) -> Annotated[CallToolResult, ScrapedPage]:
    """Read one web page or document (HTML, PDF, office file, feed, text, …) as clean Markdown with
    its metadata.

    Navigation, banners and advertising are removed; headings, tables and code are kept. Pages that
    need a browser are opened in one, if available. Private addresses are refused. A page too long
    for one answer is returned in parts: call again with next_offset as offset.
    """
    door = door_of(call)
    folder = await asyncio.to_thread(begun_with, door.settings.home, url) if offset else None
    folder = folder or await _read(call, url, door)
    found = await page_of(folder)
    if found is None:
        raise FetchError(f"{url} was not read because the session was stopped.")
    return await asyncio.to_thread(
        _answer, folder.name, found, offset, max_chars, door.form_tokens, as_json=as_json
    )


async def _read(call: Call, url: str, door: ToolContext) -> Path:
    try:
        session = reading_session(url, settings=door.settings)
    except SettingsError as error:
        raise NotAllowed(str(error)) from None
    await run(session, call.report_progress, READ_SECONDS)
    return session.folder


def _answer(
    session_id: str, read: FullPage, offset: int, chars: int, tokens: int, *, as_json: bool
) -> CallToolResult:
    shapes = [LinkShape(url=link.url, text=one_line(link.text, LINK_CHARS)) for link in read.links]
    part = stretch(read.text, offset, chars, int((1 - LINKS_SHARE) * tokens))
    made = ScrapedPage(
        **facts_of(read.page),
        session_id=session_id,
        offset=part.offset,
        next_offset=part.next_offset,
        markdown=part.text,
        links=first_within(shapes, int(LINKS_SHARE * tokens)),
    )
    return build_answer(made, _text(made), as_json=as_json)


def facts_of(page: Page) -> dict[str, Any]:
    """Return a page's metadata as the fields of PageFacts."""
    day = page.published_at
    known = page.model_dump(include=set(PageFacts.model_fields))
    return known | {"published_at": day.isoformat() if day else None}


def headline(page: PageFacts) -> str:
    """Return a page's title, address and other metadata on two lines."""
    dates = f", published {page.published_at}" if page.published_at else ""
    author = f", by {page.author}" if page.author else ""
    stale = ", an older copy: the server could not be reached" if page.stale else ""
    return (
        f"{page.title or 'Untitled'}\n{page.url} ({page.media_type}, status {page.status},"
        f" level {page.level}{author}{dates}{stale})"
    )


def _text(page: ScrapedPage) -> str:
    end = page.offset + len(page.markdown)
    more = "" if page.next_offset is None else f" Continue with offset={page.next_offset}."
    return (
        f"Characters {page.offset} to {end} of {page.chars}, saved in session {page.session_id}."
        f"{more}\n\n" + fence(f"{headline(page)}\n\n{page.markdown}")
    )


#: Placeholder in a tool's description for the names of the server's search providers.
OFFERED = "PROVIDERS"
SNIPPET_CHARS = 600


async def serp_search(
    call: Call,
    query: Query,
    max_results: Annotated[int, Field(ge=1, le=50, description="Maximum hits to return.")] = 10,
    provider: Annotated[
        str,
        Field(
            max_length=200,
            description=f"Providers, separated by commas: {OFFERED}. Empty: the server's default.",
        ),
    ] = "",
    country: Annotated[str, Field(max_length=20, description="Country code, such as de.")] = "",
    language: Annotated[str, Field(max_length=20, description="Language code, such as de.")] = "",
    news: Annotated[bool, Field(description="Search only news.")] = False,
    sites: Annotated[
        str, Field(max_length=2_000, description="Search only these domains, separated by commas.")
    ] = "",
    since: Annotated[str, Field(max_length=20, description="Earliest date, YYYY-MM-DD.")] = "",
    until: Annotated[str, Field(max_length=20, description="Latest date, YYYY-MM-DD.")] = "",
    as_json: AsJson = False,
) -> Annotated[CallToolResult, SearchAnswer]:
    """Search the web, or the server's library, and get ranked links with snippets from all
    providers. No page is read; to read one, call advanced_scrape_url.
    """
    door = door_of(call)
    settings = door.settings.with_(
        search=provider or None,
        search_country=country or None,
        search_language=language or None,
        search_kinds="news" if news else None,
        search_since=since or None,
        search_until=until or None,
    )
    teller = Teller(call.report_progress, SEARCH_SECONDS)
    await teller.say(f"Searching for “{query}”")
    # Callers may narrow the server's list of sites, but not widen it.
    within = settings.with_(search_sites=sites).search_sites if sites else ()
    limit = hits_to_request(max_results, settings)
    looked = await teller.beat_during(search(query, settings, limit=limit, sites=within))
    if not looked.answered:
        raise SearchError(f"Every search failed. {' '.join(looked.failed)}")
    return await asyncio.to_thread(
        _search_answer, query, looked, max_results, door.form_tokens, as_json=as_json
    )


def _search_answer(
    query: str, looked: Looked, most: int, tokens: int, *, as_json: bool
) -> CallToolResult:
    rows = [_shape(n, one) for n, one in enumerate(looked.hits[:most], 1)]
    shaped = SearchAnswer(
        query=one_line(query),
        searched=list(looked.searched),
        hits=first_within(rows, tokens),
        failed=list(looked.failed),
        notices=list(looked.notices),
    )
    return build_answer(shaped, _hits_text(shaped), as_json=as_json)


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


def _hits_text(answer: SearchAnswer) -> str:
    hits = number_of(len(answer.hits), "hit")
    found = f"{hits} for “{answer.query}” from {'; '.join(answer.searched)}."
    notes = [*answer.notices, *(plain(f"Failed: {failure}") for failure in answer.failed)]
    body = (
        fence("\n".join(map(_lines, answer.hits)))
        if answer.hits
        else "Nothing was found. Try different or fewer words, or another provider."
    )
    return "\n".join([found, *notes, "", body, "", "Call advanced_scrape_url(url) to read a page."])


def _lines(hit: HitShape) -> str:
    parts = f"position {hit.parts.position}, title {hit.parts.title}, snippet {hit.parts.snippet}"
    dated = [hit.published_at] if hit.published_at else []
    facts = ", ".join([f"relevance {hit.relevance} ({parts})", *hit.providers, *dated])
    return f"{hit.rank}. {hit.title or hit.url}\n   {hit.url}\n   {facts}\n   {hit.snippet}"

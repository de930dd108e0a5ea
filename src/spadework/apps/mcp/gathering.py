"""`intelligent_research_with_advanced_scraping`: search, read the best pages, hand over what stands
in them; no report.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from spadework.apps.mcp.door import Call, door_of
from spadework.apps.mcp.looking import LIBRARY, Looked, Shelf, look, shelf
from spadework.apps.mcp.paging import tokens_of
from spadework.apps.mcp.scraping import headline, read, read_web
from spadework.apps.mcp.shapes import GatheredAnswer, GatheredPage, Query, UnreadPage
from spadework.apps.mcp.telling import Teller
from spadework.prompts import fenced, plain
from spadework.settings import Settings
from spadework.tools.export.compressed import PIECE_CHARS, around, largest
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.pool import Came, Failed, Left, Limits, read_many
from spadework.tools.fetch.reader import Reader
from spadework.tools.inline import one_line
from spadework.tools.passages import cut
from spadework.tools.retrieve import Bm25
from spadework.tools.select import PRESETS, select
from spadework.tools.text.detect import spoken
from spadework.tools.urls import canonical_url, host_of
from spadework.values import Hit

#: Share of the whole time of a run that reading may take here.
READ_SHARE = 0.6
#: Pieces of a long page around which it is shown.
BEST_PIECES = 5
#: Characters of one page that are looked at when it is cut to size.
MOST_CHARS = 60_000

Contents = tuple[Hit, dict[str, Any], str]


async def intelligent_research_with_advanced_scraping(
    call: Call,
    query: Query,
    max_pages: Annotated[
        int,
        Field(
            ge=1, le=20, description="Most pages in the answer; fewer give longer contents each."
        ),
    ] = 5,
    provider: Annotated[
        str,
        Field(
            max_length=200,
            description="Search providers as in serp_search. Empty: those of the server.",
        ),
    ] = "",
) -> Annotated[CallToolResult, GatheredAnswer]:
    """Search, read the best pages at once and get their cleaned contents; you read and judge them
    yourself, no report is written.

    Use it when you want the material and not a conclusion; for a checked report with citations use
    agentic_search. A page that fails is replaced by the next best. Of long pages you get the pieces
    that fit the query best; the whole page is had with advanced_scrape_url.
    """
    door = door_of(call)
    settings = door.settings.with_(search=provider or None)
    teller = Teller(call.report_progress, settings.minutes * 60)
    await teller.say(f"Searching for “{query}”")
    async with shelf(settings) as books:
        looked = await look(query, settings, books)
        await teller.say(f"{len(looked.hits)} hits; reading up to {max_pages} pages")
        pages, unread = await _read(looked, max_pages, settings, books, teller)
    return await asyncio.to_thread(_answer, query, looked, (pages, unread), door.form_tokens)


async def _read(
    looked: Looked, most: int, settings: Settings, books: Shelf, teller: Teller
) -> tuple[list[Contents], list[UnreadPage]]:
    """The best pages that could be read, best first, and those that could not."""
    preset = settings.preset if PRESETS[settings.preset][1] >= most else "recall"
    chosen = select(
        looked.hits, preset=preset, pages_per_domain=settings.pages_per_domain, limit=most
    )
    hits = [*chosen.chosen, *chosen.reserve]
    pages: dict[str, Contents] = {}
    unread: list[UnreadPage] = []
    async with _reading(settings, books) as read_one:
        outcomes = read_many(
            hits,
            read_one,
            _limits(settings, most),
            group=_host,
            key=lambda page: canonical_url(page[1]["url"]),
            stop=asyncio.Event(),
        )
        async with aclosing(outcomes) as happening:
            async for outcome in happening:
                if isinstance(outcome, Came):
                    pages[canonical_url(outcome.result[1]["url"])] = outcome.result
                    await teller.say(f"{len(pages)} of {most} pages read")
                elif isinstance(outcome, (Failed, Left)):
                    unread += _unread(outcome)
    order = {hit.url: n for n, hit in enumerate(hits)}
    return sorted(pages.values(), key=lambda page: order[page[0].url]), unread


@asynccontextmanager
async def _reading(settings: Settings, books: Shelf) -> AsyncIterator[Any]:
    """What reads one hit through connections that all hits share."""
    async with Web(settings) as web:
        reader = Reader(web)

        async def read_one(hit: Hit, seconds: float) -> Contents:
            if hit.url.startswith(LIBRARY):
                facts, text, _ = await read(hit.url, settings, books)
            else:
                facts, text, _ = await read_web(hit.url, reader, seconds)
            return hit, facts | {"title": facts["title"] or hit.title}, text

        yield read_one


def _limits(settings: Settings, most: int) -> Limits:
    seconds = READ_SHARE * settings.minutes * 60
    return Limits(
        wanted=most,
        parallel=settings.parallel_pages,
        per_group=settings.parallel_per_host,
        page_seconds=min(settings.page_seconds, seconds),
        slow_seconds=min(settings.slow_page_seconds, seconds / 3),
        until=asyncio.get_running_loop().time() + seconds,
    )


def _host(hit: Hit) -> str:
    return "" if hit.url.startswith(LIBRARY) else host_of(hit.url)


def _unread(outcome: Failed[Hit] | Left[Hit]) -> list[UnreadPage]:
    """A page that failed, or was not there in time; one that was not needed any more is not worth a
    word.
    """
    if isinstance(outcome, Left):
        late = outcome.why == "deadline"
        return (
            [UnreadPage(url=outcome.candidate.url, reason="It did not come in time.")]
            if late
            else []
        )
    return [UnreadPage(url=outcome.candidate.url, reason=one_line(str(outcome.error)))]


def _answer(
    query: str, looked: Looked, read: tuple[list[Contents], list[UnreadPage]], tokens: int
) -> CallToolResult:
    pages, unread = read
    share = tokens // max(1, len(pages))
    shown = [_page(n, page, query, share) for n, page in enumerate(pages, 1)]
    shaped = GatheredAnswer(
        query=one_line(query),
        searched=list(looked.searched),
        pages=shown,
        unread=unread[:20],
        failed=list(looked.failed),
        notices=list(looked.notices),
    )
    return CallToolResult(
        content=[TextContent(type="text", text=_text(shaped))],
        structured_content=shaped.model_dump(mode="json"),
    )


def _page(n: int, page: Contents, query: str, tokens: int) -> GatheredPage:
    hit, facts, text = page
    room = tokens - tokens_of(facts) - 60
    spans = _best(text[:MOST_CHARS], query)
    size = largest(
        min(len(text), MOST_CHARS), lambda chars: tokens_of(_shown(text, spans, chars)) <= room
    )
    content = _shown(text, spans, size)
    return GatheredPage(
        **facts, n=n, relevance=hit.relevance, whole=content == text, content=content
    )


def _shown(text: str, spans: Sequence[tuple[int, int]], chars: int) -> str:
    """The whole text where it fits, else its whole pieces around the best ones, else its
    beginning.
    """
    if len(text) <= chars:
        return text
    return around(text[:MOST_CHARS], spans, chars) or text[:chars]


def _best(text: str, query: str) -> list[tuple[int, int]]:
    """The pieces that share most with the query, best first."""
    pieces = cut(text, PIECE_CHARS)
    scores = Bm25([text[start:end] for start, end in pieces], [spoken(text)] * len(pieces)).scores(
        query
    )
    ranked = sorted(range(len(pieces)), key=lambda n: -scores[n])
    return [pieces[n] for n in ranked[:BEST_PIECES] if scores[n] > 0]


def _text(answer: GatheredAnswer) -> str:
    parts = [
        (
            f"{len(answer.pages)} pages read for “{answer.query}”, found by"
            f" {'; '.join(answer.searched)}."
        ),
        *answer.notices,
    ]
    for page in answer.pages:
        more = (
            ""
            if page.whole
            else f"\nPieces of it are shown; advanced_scrape_url gives all {page.chars} characters."
        )
        parts.append(f"[{page.n}]{more}\n" + fenced(f"{headline(page)}\n\n{page.content}"))
    if not answer.pages:
        parts.append("No page could be read. Try other words, or another provider.")
    parts += [plain(f"Not read: {page.url}: {page.reason}") for page in answer.unread]
    parts += [plain(f"Not answered: {failure}") for failure in answer.failed]
    return "\n\n".join(parts)

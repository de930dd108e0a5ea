"""`advanced_scrape_url`: one page as clean Markdown, a long one stretch by stretch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from spadework.apps.mcp.door import Call, door_of
from spadework.apps.mcp.looking import LIBRARY, Shelf, shelf
from spadework.apps.mcp.paging import leading, stretch
from spadework.apps.mcp.shapes import LinkShape, PageFacts, ScrapedPage
from spadework.apps.mcp.telling import Teller
from spadework.prompts import fenced
from spadework.settings import Settings
from spadework.tools.extract.extracted import Link
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.reader import Reader
from spadework.tools.inline import one_line

#: Of the tokens of an answer in one form, the links take at most this share.
LINKS_SHARE = 0.1
LINK_CHARS = 100


async def advanced_scrape_url(
    call: Call,
    url: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4_000,
            description="An http or https address, or a library:// address of a hit.",
        ),
    ],
    offset: Annotated[
        int, Field(ge=0, description="Begin at this character; next_offset of the answer before.")
    ] = 0,
    max_chars: Annotated[
        int, Field(ge=100, le=100_000, description="Most characters of text in the answer.")
    ] = 20_000,
) -> Annotated[CallToolResult, ScrapedPage]:
    """Read one web page or document (HTML, PDF, office file, feed, text, …) as clean Markdown with
    its metadata.

    Navigation, banners and advertising are removed; headings, tables and code stay as they are.
    Pages that need it are opened in a browser. Private addresses are refused. A page that is too
    long for one answer comes in stretches: call again with next_offset as offset.
    """
    settings = door_of(call).settings
    await Teller(call.report_progress, settings.page_seconds).say(f"Reading {url}")
    async with shelf(settings) as books:
        facts, markdown, links = await read(url, settings, books)
    return await asyncio.to_thread(
        _answer, (facts, markdown, links), (offset, max_chars), door_of(call).form_tokens
    )


def _answer(
    page: tuple[dict[str, Any], str, Sequence[Link]], window: tuple[int, int], tokens: int
) -> CallToolResult:
    facts, markdown, links = page
    shapes = [LinkShape(url=link.url, text=one_line(link.text, LINK_CHARS)) for link in links]
    part = stretch(markdown, *window, int((1 - LINKS_SHARE) * tokens))
    shown = leading(shapes, int(LINKS_SHARE * tokens))
    made = ScrapedPage(
        **facts, offset=part.offset, next_offset=part.next_offset, markdown=part.text, links=shown
    )
    return CallToolResult(
        content=[TextContent(type="text", text=_text(made))],
        structured_content=made.model_dump(mode="json"),
    )


async def read(
    url: str, settings: Settings, books: Shelf
) -> tuple[dict[str, Any], str, Sequence[Link]]:
    """What is known of a page (the fields of PageFacts), its text and its links. Raises
    FetchError.
    """
    if url.startswith(LIBRARY):
        document = await (await books.library()).document(url)
        known = PageFacts(
            url=url,
            title=_line(document.title),
            media_type="text/markdown",
            level=-1,
            chars=len(document.markdown),
        )
        return known.model_dump(), document.markdown, ()
    async with Web(settings) as web:
        return await read_web(url, Reader(web), settings.page_seconds)


async def read_web(
    url: str, reader: Reader, seconds: float
) -> tuple[dict[str, Any], str, Sequence[Link]]:
    """The same for a page of the web, read by `reader` within `seconds`."""
    fetched, found = await reader.read(url, seconds=seconds)
    known = PageFacts(
        url=fetched.url,
        title=_line(found.title),
        author=_line(found.author),
        published_at=found.published_at.isoformat() if found.published_at else None,
        language=_line(found.language),
        kind=found.kind,
        media_type=fetched.media_type,
        status=fetched.status,
        level=fetched.level,
        stale=fetched.stale,
        chars=len(found.markdown),
    )
    return known.model_dump(), found.markdown, found.links


def headline(page: PageFacts) -> str:
    """Title, address and what else is known of a page, on two lines."""
    dates = f", published {page.published_at}" if page.published_at else ""
    author = f", by {page.author}" if page.author else ""
    stale = ", a copy from before: the server could not be reached" if page.stale else ""
    return (
        f"{page.title or 'Without a title'}\n{page.url} ({page.media_type}, status {page.status},"
        f" level {page.level}{author}{dates}{stale})"
    )


def _text(page: ScrapedPage) -> str:
    end = page.offset + len(page.markdown)
    more = "" if page.next_offset is None else f" Read on with offset={page.next_offset}."
    return f"Characters {page.offset} to {end} of {page.chars}.{more}\n\n" + fenced(
        f"{headline(page)}\n\n{page.markdown}"
    )


def _line(text: str) -> str:
    return one_line(text)

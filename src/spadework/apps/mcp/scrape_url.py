"""`advanced_scrape_url`: one page as clean Markdown, a long one in parts."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

from mcp_types import CallToolResult
from pydantic import Field

from spadework.apps.mcp.answer_pages import first_within, stretch
from spadework.apps.mcp.call_runs import run
from spadework.apps.mcp.output_schemas import (
    AsJson,
    LinkShape,
    PageFacts,
    ScrapedPage,
    build_answer,
)
from spadework.apps.mcp.tool_context import Call, ToolContext, door_of
from spadework.errors import FetchError, NotAllowed, SettingsError
from spadework.prompts import fence
from spadework.sessions.lookups.page_sessions import PageText, begun_with, page_of, reading_session
from spadework.tools.text.markdown import one_line
from spadework.values import Page

#: Maximum share of an output's tokens for links.
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
    as_json: AsJson = False,
) -> Annotated[CallToolResult, ScrapedPage]:
    """Read one web page or document (HTML, PDF, office file, feed, text, …) as clean Markdown with
    its metadata.

    Navigation, banners and advertising are removed; headings, tables and code are kept. Pages that
    need it are opened in a browser, if the server has one. Private addresses are refused. A page
    too long for one answer comes in parts: call again with next_offset as offset.
    """
    door = door_of(call)
    folder = await asyncio.to_thread(begun_with, door.settings.home, url) if offset else None
    folder = folder or await _read(call, url, door)
    found = await page_of(folder)
    if found is None:
        raise FetchError(f"{url} was not read: the session was stopped.")
    return await asyncio.to_thread(
        _answer, folder.name, found, offset, max_chars, door.form_tokens, as_json=as_json
    )


async def _read(call: Call, url: str, door: ToolContext) -> Path:
    """Read the page in a session and return its folder. Raises FetchError."""
    try:
        session = reading_session(url, settings=door.settings)
    except SettingsError as error:
        raise NotAllowed(str(error)) from None
    await run(session, call.report_progress, session.settings.page_seconds)
    return session.folder


def _answer(
    session_id: str, read: PageText, offset: int, chars: int, tokens: int, *, as_json: bool
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
    """Return a page's metadata, as fields of PageFacts."""
    day = page.published_at
    known = page.model_dump(include=set(PageFacts.model_fields))
    return known | {"published_at": day.isoformat() if day else None}


def headline(page: PageFacts) -> str:
    """Return title, address and other metadata of a page, on two lines."""
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
    return (
        f"Characters {page.offset} to {end} of {page.chars}, kept in session {page.session_id}."
        f"{more}\n\n" + fence(f"{headline(page)}\n\n{page.markdown}")
    )

"""Get the best pages for a query, or one page by URL."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from spadework.budget import Budget
from spadework.errors import FetchError
from spadework.graph.context import SessionContext, new_session_id
from spadework.graph.nodes.gather import asked_of
from spadework.graph.nodes.read import page_at
from spadework.graph.nodes.recall import recorded_pages
from spadework.graph.parts import PagesAlone
from spadework.sessions.brief import Brief
from spadework.sessions.documents import (
    Linked,
    ReadPage,
    about,
    checked_address,
    tell_links,
    temporary_context,
)
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_page
from spadework.sessions.storage.session_list import readable_sessions
from spadework.settings import Settings
from spadework.tools.fetch.guard import printable_url
from spadework.tools.fetch.page_pool import PAGE_SECONDS
from spadework.tools.ranking.selection import LOCAL, PRESETS, LinkStore
from spadework.values import Page, Result, Unread, Value

PAGES, MOST_PAGES = 5, 20
#: Maximum number of recent sessions to search for a copy of the page, and their maximum age.
LOOKED_THROUGH, READ_ON = 50, timedelta(hours=1)

#: Maximum seconds to read one page.
READ_SECONDS = PAGE_SECONDS


class FullPage(Value):
    """A page and its text, with its links if read by URL."""

    page: Page
    text: str
    links: tuple[Linked, ...] = ()


class GatheredPages(Value):
    """The best pages for a query, best first, and the hits that could not be read."""

    pages: tuple[FullPage, ...]
    unread: tuple[Unread, ...]
    result: Result


def gathering_session(
    query: str, *, pages: int = PAGES, settings: Settings | None = None
) -> Session:
    """Return a session that gathers the `pages` best pages (1 to 20) without a model. Raises
    SettingsError. Running the session raises SearchError if every search fails.
    """
    settings = settings or Settings.load()
    most = min(max(1, pages), MOST_PAGES)
    if most > PRESETS[settings.preset][1]:
        settings = settings.with_(preset="recall")
    return _session(Brief(asked_of(query).text, kind="gather", pages=most), settings)


def reading_session(url: str, *, settings: Settings | None = None) -> Session:
    """Return a session that reads one web page or library document (`library://…`). Raises
    SettingsError for an invalid address. Running the session raises FetchError if reading fails.
    """
    settings = settings or Settings.load()
    if url.startswith(LOCAL):
        settings = settings.with_(search="library")
    else:
        url = checked_address(url)
    return _session(Brief(url, kind="read", pages=1), settings)


async def gather(
    query: str,
    settings: Settings | None = None,
    *,
    pages: int = PAGES,
    providers: Sequence[Any] = (),
) -> GatheredPages:
    """Return the `pages` best pages (1 to 20) for a query, with their texts. For `providers`, see
    `Session.search_with`. Raises SettingsError, or SearchError if every search fails.
    """
    session = gathering_session(query, pages=pages, settings=settings).search_with(*providers)
    return await gathered_pages(session, await session.result())


async def gathered_pages(session: Session, result: Result) -> GatheredPages:
    """Return the pages that a session gathered, with their texts."""
    found = session.gathering.gathered if session.gathering else None
    pages = found.pages if found else ()
    texts = [await asyncio.to_thread(_text, session.folder, page) for page in pages]
    return GatheredPages(
        pages=tuple(
            FullPage(page=page, text=text) for page, text in zip(pages, texts, strict=True)
        ),
        unread=result.unread,
        result=result,
    )


async def page_of(folder: Path) -> FullPage | None:
    """Return the page read by the session in `folder`, or None if it read none."""
    pages = await asyncio.to_thread(recorded_pages, folder)
    if not pages:
        return None
    page = pages[0]
    links = await LinkStore(folder / "links").of(page.url)
    text = await asyncio.to_thread(_text, folder, page)
    return FullPage(page=page, text=text, links=tell_links(links))


def begun_with(home: Path, url: str) -> Path | None:
    """Return the folder of a session that read `url` within the last hour, or None."""
    since = datetime.now(UTC) - READ_ON
    for metadata in islice(readable_sessions(home), LOOKED_THROUGH):
        if metadata.created_at < since:
            return None
        if (metadata.kind, metadata.query, metadata.status) == ("read", url, "completed"):
            return home / "sessions" / metadata.id
    return None


def _session(brief: Brief, settings: Settings) -> Session:
    return Session(new_session_id(), brief, settings, Budget.of(settings))


def _text(folder: Path, page: Page) -> str:
    return read_page(folder, page.content_hash) or ""


async def read(url: str, settings: Settings | None = None, *, level: int = 0) -> ReadPage:
    """Read a web page or library document (`library://…`), starting at fetch level `level` (0 is a
    plain request, 2 a browser). Raises SettingsError if the address is invalid, and FetchError if
    the page cannot be read.
    """
    settings = settings or Settings.load()
    address = url if url.startswith(LOCAL) else checked_address(url)
    async with _context_for(address, settings) as context:
        context.web.min_level = level
        try:
            page = await page_at(context, address)
        except FetchError as error:
            raise about(printable_url(address), error) from None
        own = page.model_dump(include=set(ReadPage.model_fields))
        also = {
            "url": url,
            "final_url": page.url,
            "from_cache": context.budget.used.cache_hits > 0,
            "seconds": round(context.budget.elapsed(), 3),
            "links": tell_links(await context.links.of(page.url)),
            "markdown": await context.pages.get(page.content_hash),
        }
        return ReadPage(**own | also)


def _context_for(url: str, settings: Settings) -> AbstractAsyncContextManager[SessionContext]:
    local = url.startswith(LOCAL)
    settings = settings.with_(search="library") if local else settings
    alone = PagesAlone(search=local)
    return temporary_context(settings, Budget.of(settings), lambda text: None, alone)

"""Pages without a report: the best for a query, or one by URL. Each leaves a session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from spadework.budget import Budget
from spadework.graph.context import new_session_id
from spadework.graph.nodes.gather import asked_of
from spadework.graph.nodes.recall import recorded_pages
from spadework.sessions.brief import Brief
from spadework.sessions.lookups.documents import Linked, checked_address, tell_links
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_page
from spadework.sessions.storage.session_list import readable_sessions
from spadework.settings import Settings
from spadework.tools.ranking.link_authority import LinkStore
from spadework.tools.ranking.selection import LOCAL, PRESETS
from spadework.values import Page, Result, Unread, Value

#: Default and maximum pages read for a query.
PAGES, MOST_PAGES = 5, 20
#: Newest sessions searched for one that has read the same page, and its maximum age.
LOOKED_THROUGH, READ_ON = 50, timedelta(hours=1)


class PageText(Value):
    """A page with its text and, if read alone, its links."""

    page: Page
    text: str
    links: tuple[Linked, ...] = ()


class GatheredPages(Value):
    """The best pages for a query, best first; those that could not be read; and the session's
    result, with what was searched, failed and used.
    """

    pages: tuple[PageText, ...]
    unread: tuple[Unread, ...]
    result: Result


def gathering_session(
    query: str, *, pages: int = PAGES, settings: Settings | None = None
) -> Session:
    """Return a new session that searches for a query and reads the best `pages` (1 to 20) as a run
    would, without a model. Raises SettingsError for an empty query.

    It ends with SearchError if no search was answered.
    """
    settings = settings or Settings.load()
    most = min(max(1, pages), MOST_PAGES)
    if most > PRESETS[settings.preset][1]:
        settings = settings.with_(preset="recall")
    asked = asked_of(query).text
    return _session(Brief(asked, kind="gather", pages=most), settings)


def reading_session(url: str, *, settings: Settings | None = None) -> Session:
    """Return a new session that reads one web page, or a library document (`library://…`), as a run
    would. Raises SettingsError for an invalid address.

    It ends with FetchError if the page cannot be read.
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
    """Return the best pages for a query with their texts; for `providers` see
    `Session.search_with`. Raises SettingsError, and SearchError if no search was answered.
    """
    session = gathering_session(query, pages=pages, settings=settings).search_with(*providers)
    return await gathered_pages(session, await session.result())


async def gathered_pages(session: Session, result: Result) -> GatheredPages:
    """Return the pages of a gathering session, with its result."""
    found = session.gathering.gathered if session.gathering else None
    pages = found.pages if found else ()
    texts = [await asyncio.to_thread(_text, session.folder, page) for page in pages]
    return GatheredPages(
        pages=tuple(
            PageText(page=page, text=text) for page, text in zip(pages, texts, strict=True)
        ),
        unread=result.unread,
        result=result,
    )


async def page_of(folder: Path) -> PageText | None:
    """Return the page read by the session in `folder`, or None."""
    pages = await asyncio.to_thread(recorded_pages, folder)
    if not pages:
        return None
    page = pages[0]
    links = await LinkStore(folder / "links").of(page.url)
    text = await asyncio.to_thread(_text, folder, page)
    return PageText(page=page, text=text, links=tell_links(links))


def begun_with(home: Path, url: str) -> Path | None:
    """Return the folder of the newest session that has recently read the page at `url`, so that
    reading on does not fetch it again; or None.
    """
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

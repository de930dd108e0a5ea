"""One page of the web or library as text, or its source as it came. Nothing is left behind."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from spadework.budget import Budget
from spadework.errors import FetchError
from spadework.graph.fetching import LIBRARY
from spadework.graph.opening_record import PagesAlone
from spadework.graph.reading import page_at
from spadework.graph.session_context import SessionContext
from spadework.sessions.documents import ReadPage, about, checked_address, tell_links, text_of
from spadework.sessions.temporary import temporary_context
from spadework.settings import Settings
from spadework.tools.fetch.guard import printable_url
from spadework.values import Page


async def read(url: str, settings: Settings | None = None) -> ReadPage:
    """The page at an address of the web, or of a document of the library (`library://…`), by the
    levels of a run. Raises SettingsError for what is no address, FetchError.
    """
    settings = settings or Settings.load()
    address = url if url.startswith(LIBRARY) else checked_address(url)
    async with _context_for(address, settings) as context:
        try:
            page = await page_at(context, address)
        except FetchError as error:
            raise about(printable_url(address), error) from None
        return await _describe_page(context, url, page)


async def source(url: str, settings: Settings) -> str:
    """The text at an address as it came. Raises SettingsError, FetchError (Unreadable: no text)."""
    address = checked_address(url)
    async with _context_for(address, settings) as context:
        try:
            fetched = await context.reader.source(address, seconds=settings.page_seconds)
        except FetchError as error:
            raise about(printable_url(address), error) from None
    return text_of(fetched, printable_url(fetched.url))


@asynccontextmanager
async def _context_for(url: str, settings: Settings) -> AsyncGenerator[SessionContext, None]:
    local = url.startswith(LIBRARY)
    settings = settings.with_(search="library") if local else settings
    budget, alone = Budget.of(settings), PagesAlone(search=local)
    async with temporary_context(settings, budget, lambda text: None, alone) as context:
        yield context


async def _describe_page(context: SessionContext, url: str, page: Page) -> ReadPage:
    """A page that a context has read, as it is told."""
    own = page.model_dump(include=set(ReadPage.model_fields))
    used = context.budget
    return ReadPage(
        **own
        | {
            "url": url,
            "final_url": page.url,
            "from_cache": used.used.cache_hits > 0,
            "seconds": round(used.elapsed(), 3),
            "links": tell_links(await context.links.of(page.url)),
            "markdown": await context.pages.get(page.content_hash),
        }
    )

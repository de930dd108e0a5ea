"""One page of the web or library as text or unchanged source, leaving nothing behind."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from spadework.budget import Budget
from spadework.errors import FetchError
from spadework.graph.context import SessionContext
from spadework.graph.nodes.read import page_at
from spadework.graph.parts import PagesAlone
from spadework.sessions.lookups.documents import (
    ReadPage,
    about,
    checked_address,
    tell_links,
    temporary_context,
    text_of,
)
from spadework.settings import Settings
from spadework.tools.fetch.guard import printable_url
from spadework.tools.ranking.selection import LOCAL


async def read(url: str, settings: Settings | None = None) -> ReadPage:
    """Return a web page, or a library document (`library://…`), read as in a run. Raises
    SettingsError for an invalid address, FetchError.
    """
    settings = settings or Settings.load()
    address = url if url.startswith(LOCAL) else checked_address(url)
    async with _context_for(address, settings) as context:
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


async def source(url: str, settings: Settings) -> str:
    """Return the source text at a URL. Raises SettingsError, FetchError (Unreadable: not text)."""
    address = checked_address(url)
    async with _context_for(address, settings) as context:
        try:
            fetched = await context.reader.source(address, seconds=settings.page_seconds)
        except FetchError as error:
            raise about(printable_url(address), error) from None
    return text_of(fetched, printable_url(fetched.url))


def _context_for(url: str, settings: Settings) -> AbstractAsyncContextManager[SessionContext]:
    local = url.startswith(LOCAL)
    settings = settings.with_(search="library") if local else settings
    alone = PagesAlone(search=local)
    return temporary_context(settings, Budget.of(settings), lambda text: None, alone)

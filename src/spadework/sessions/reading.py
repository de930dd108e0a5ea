"""One page of the web or of the library as text, with all that is known of it, or its source as it
came. Nothing is left behind.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from spadework.budget import Budget
from spadework.errors import FetchError
from spadework.graph.desk import Desk
from spadework.graph.fetching import LIBRARY
from spadework.graph.opened import PagesAlone
from spadework.graph.reading import page_at
from spadework.sessions.aside import desk_aside
from spadework.sessions.documents import ReadPage, about, checked_address, linked, text_of
from spadework.settings import Settings
from spadework.tools.fetch.guard import shown
from spadework.values import Page


async def read(url: str, settings: Settings | None = None) -> ReadPage:
    """The page at an address of the web, or of a document of the library (`library://…`), by the
    levels of a run. Raises SettingsError for what is no address, FetchError.
    """
    settings = settings or Settings.load()
    address = url if url.startswith(LIBRARY) else checked_address(url)
    async with _desk_for(address, settings) as desk:
        try:
            page = await page_at(desk, address)
        except FetchError as error:
            raise about(shown(address), error) from None
        return await _known(desk, url, page)


async def source(url: str, settings: Settings) -> str:
    """The text at an address as it came. Raises SettingsError, FetchError, and Unreadable for what
    is no text.
    """
    address = checked_address(url)
    async with _desk_for(address, settings) as desk:
        try:
            fetched = await desk.reader.source(address, seconds=settings.page_seconds)
        except FetchError as error:
            raise about(shown(address), error) from None
    return text_of(fetched, shown(fetched.url))


@asynccontextmanager
async def _desk_for(url: str, settings: Settings) -> AsyncGenerator[Desk, None]:
    local = url.startswith(LIBRARY)
    settings = settings.with_(search="library") if local else settings
    budget, alone = Budget.of(settings), PagesAlone(search=local)
    async with desk_aside(settings, budget, lambda text: None, alone) as desk:
        yield desk


async def _known(desk: Desk, url: str, page: Page) -> ReadPage:
    """A page that a desk has read, as it is told."""
    own = page.model_dump(include=set(ReadPage.model_fields))
    used = desk.budget
    return ReadPage(
        **own
        | {
            "url": url,
            "final_url": page.url,
            "from_cache": used.used.cache_hits > 0,
            "seconds": round(used.elapsed(), 3),
            "links": linked(await desk.links.of(page.url)),
            "markdown": await desk.pages.get(page.content_hash),
        }
    )

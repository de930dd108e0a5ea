"""Whether pages can be read: one that a search has found is fetched, and a browser exists."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spadework.errors import FetchError
from spadework.sessions.health.check import Check
from spadework.settings import Settings
from spadework.tools.fetch.browser.handle import Browser, choose_browser
from spadework.tools.fetch.client import Web
from spadework.tools.web.urls import host_of
from spadework.values import Hit

#: Maximum pages tried, on different hosts: one site that refuses everyone proves nothing.
MOST_TRIED = 3
NOT_TRIED = "no page was fetched: no search has found one"
_MEND = "Look whether a firewall or a proxy stands before this machine."


async def check_fetching(hits: Sequence[Hit], settings: Settings, seconds: float) -> Check:
    """Return whether one of the first pages found, on up to three hosts, can be fetched."""
    urls = list({host_of(hit.url): hit.url for hit in reversed(hits)}.values())[::-1][:MOST_TRIED]
    if not urls or seconds <= 0:
        return Check(state="hint", text=NOT_TRIED)
    # A cached copy proves nothing.
    async with Web(settings.model_copy(update={"cache_mb": 0})) as web:
        answers = await asyncio.gather(*(_fetch_page(web, url, seconds) for url in urls))
    errors = [answer for answer in answers if answer]
    if len(errors) < len(urls):
        return Check(state="works", text="pages can be fetched")
    first = errors[0]
    more = f", nor could {len(urls) - 1} of other sites" if len(urls) > 1 else ""
    return Check(
        state="broken",
        text=f"A page that a search has found could not be fetched{more}: {first}",
        hint=first.hint or _MEND,
    )


async def _fetch_page(web: Web, url: str, seconds: float) -> FetchError | None:
    try:
        await web.fetch(url, seconds=seconds)
    except FetchError as error:
        return error
    return None


async def browser(settings: Settings) -> list[Check]:
    """Return which browser reads pages made by scripts."""
    return [await asyncio.to_thread(_browser, settings)]


def _browser(settings: Settings) -> Check:
    if missing := Browser(settings).what_is_missing:
        text = f"no browser, so pages made by scripts cannot be read: {missing}"
        return Check(state="broken" if settings.chromium else "hint", text=text)
    return Check(state="works", text=f"browser {choose_browser(settings)}")

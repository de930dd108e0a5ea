"""A page of the web as text: fetched, read by the reader of its format, and refused when it is only the door of a page."""

from __future__ import annotations

import asyncio

from spadework.errors import Blocked, TooSlow, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.charset import decode
from spadework.tools.extract.extracted import Extracted
from spadework.tools.fetch.aside import aside
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import shown
from spadework.tools.fetch.walls import seen, wall

#: A page with less text than this has none.
MIN_CHARS = 50


class Reader:
    """Reads pages through a `Web`."""

    def __init__(self, web: Web) -> None:
        self._web = web

    async def read(self, url: str, *, seconds: float) -> tuple[Fetched, Extracted]:
        """The page at `url` and what stands in it, within `seconds`.

        Raises what `Web.fetch` raises; Blocked also for a captcha, a login and the like, Unreadable for a page without text.
        """
        try:
            async with asyncio.timeout(seconds):
                fetched = await self._web.fetch(url, seconds=seconds)
                return fetched, await aside(_read, fetched)
        except TimeoutError:
            raise TooSlow(f"{shown(url)} was not read within {seconds:.3g} s.") from None


def _read(fetched: Fetched) -> Extracted:
    found = read_document(fetched.body, media_type=fetched.media_type, url=fetched.url, charset=fetched.charset)
    empty = len(found.markdown.strip()) < MIN_CHARS
    words = seen(decode(fetched.body, fetched.charset)) if empty and found.kind != "pdf" else f"{found.title}\n{found.markdown}"
    if door := wall(words):
        raise Blocked(f"{shown(fetched.url)} is behind {door}.")
    if empty:
        raise Unreadable(f"{shown(fetched.url)} has no text that can be read.")
    return found

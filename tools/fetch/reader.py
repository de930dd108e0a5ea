"""A page of the web as text: fetched, read by the reader of its format, and refused when it is only the door of a page."""

from __future__ import annotations

import asyncio

from spadework.errors import Blocked, TooSlow, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.charset import decode
from spadework.tools.extract.child import read_apart, warm
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.kinds import kind_of
from spadework.tools.fetch.aside import aside
from spadework.tools.fetch.client import Web
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import shown
from spadework.tools.fetch.walls import seen, wall

#: A page with less text than this has none.
MIN_CHARS = 50

#: Readers that no document keeps busy for long, and what has none.
HARMLESS = frozenset({"", "text", "code", "markdown"})


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
                warm()
                fetched = await self._web.fetch(url, seconds=seconds)
                found = await _read(fetched, seconds)
                await aside(_refuse_doors, fetched, found)
                return fetched, found
        except TimeoutError:
            raise TooSlow(f"{shown(url)} was not read within {seconds:.3g} s.") from None


async def _read(fetched: Fetched, seconds: float) -> Extracted:
    """The document that was fetched, read in a process of its own unless its format cannot do harm."""
    if kind_of(fetched.body, fetched.media_type, fetched.url).reader in HARMLESS:
        return await aside(read_document, fetched.body, media_type=fetched.media_type, url=fetched.url, charset=fetched.charset)
    return await read_apart(fetched.body, media_type=fetched.media_type, url=fetched.url, charset=fetched.charset, seconds=seconds)


def _refuse_doors(fetched: Fetched, found: Extracted) -> None:
    """Raise Blocked where the page is only the door of one, Unreadable where there is nothing in it."""
    empty = len(found.markdown.strip()) < MIN_CHARS
    is_html = kind_of(fetched.body, fetched.media_type, fetched.url).reader == "html"
    words = seen(decode(fetched.body, fetched.charset)) if empty and is_html else f"{found.title}\n{found.markdown}"
    if door := wall(words):
        raise Blocked(f"{shown(fetched.url)} is behind {door}.")
    if empty:
        raise Unreadable(f"{shown(fetched.url)} has no text that can be read.")

"""Visit a page: open it, wait, close banners, scroll, and return its HTML."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from importlib.resources import files
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlsplit

import httpx
from playwright.async_api import Error, Page, Response

from spadework.errors import FetchError, NotAllowed, TooLarge, TooSlow, Unreachable, Unreadable
from spadework.tools.fetch.block_detection import MARKED_CHARS, is_passable
from spadework.tools.fetch.browser.tabs import Tab, authenticate_proxy
from spadework.tools.fetch.exchange import Answer, Fetched
from spadework.tools.fetch.guard import check_url, printable_url

LEVEL = 2
#: Milliseconds without new text after which a loaded page counts as settled.
QUIET = 250
#: Milliseconds without new text after which a page that is still loading counts as settled.
LONG_QUIET = 1_500
#: A page with fewer characters than this does not count as settled. The browser waits for more text
#: for up to SETTLE seconds while the page loads, and then for up to EMPTY seconds more.
LEAST = 50
SETTLE = 10.0
EMPTY = 3.0
#: Limits on scrolling: the maximum number of screens, the maximum number of seconds, and the
#: milliseconds to wait for more content at the page's end.
SCREENS = 40
SCROLL = 8.0
PATIENCE = 300
CHECK = 10.0
#: Seconds reserved for returning the page's HTML.
RESERVE = 3.0
_SETTLE, _SCROLL, _BANNERS, _WHOLE = (
    (files("spadework.tools.fetch.browser") / f"{name}.js").read_text("utf-8")
    for name in ("settle", "scroll", "banners", "whole")
)
#: The statuses with which the proxy reports a forbidden host and an unreachable host.
REFUSED, FAILED = 403, 502
_CODE = re.compile(r"ERR_\w+")
_CHARS = "document.body ? document.body.innerText.trim().length : 0"
_BEGINNING = "document.documentElement.outerHTML.slice(0, 20000)"
_ERROR_PAGE = "chrome-error:"
_GONE = ("Execution context was destroyed", "frame was detached", "Cannot find context")
#: Errors raised for invalid script results. Only a page that tampers with scripts causes them.
_ODD = (ValueError, TypeError, LookupError, OverflowError, RecursionError)
T = TypeVar("T")


@dataclass(frozen=True)
class Errand:
    """A page to visit. `most_bytes` limits the size of its HTML."""

    url: str
    seconds: float
    most_bytes: int


class _Whole(NamedTuple):
    status: int
    html: str | None
    type: str


async def visit(tab: Tab, errand: Errand) -> Fetched:
    """Return the page after its scripts have run. Raises FetchError, such as TooSlow after
    `errand.seconds`, or NotAllowed for a forbidden host.
    """
    until = asyncio.get_running_loop().time() + errand.seconds
    tab.permission.begin(urlsplit(errand.url).hostname or "")
    try:
        # Chromium remembers the proxy credentials after the first visit.
        first = nullcontext() if tab.visits else authenticate_proxy(tab.devtools, tab.permission)
        async with asyncio.timeout_at(until), first:
            response = await _open_page(tab, errand, until)
            await _prepare_page(tab.page, until - min(RESERVE, errand.seconds / 4))
            return await _handed_over(tab, errand, response)
    except TimeoutError:
        late = f"did not load within {errand.seconds:.3g} s in the browser"
        raise TooSlow(f"{printable_url(errand.url)} {late}.") from None
    except Error as error:
        raise _in_our_words(tab, errand, error) from error


async def _open_page(tab: Tab, errand: Errand, until: float) -> Response | None:
    response = await tab.page.goto(errand.url, wait_until="commit", timeout=0)
    with suppress(TimeoutError):  # what has loaded so far may suffice
        async with asyncio.timeout_at(until - min(RESERVE, errand.seconds / 4)):
            await tab.page.wait_for_load_state("domcontentloaded", timeout=0)
    return response


async def _prepare_page(page: Page, until: float) -> None:
    try:
        async with asyncio.timeout_at(until):
            if await _settle_page(page) <= MARKED_CHARS:
                await _let_pass(page)
            if await _run(page, _BANNERS, int):
                await _quiet(page, QUIET)
            steps = {"screens": SCREENS, "most": SCROLL * 1000, "patience": PATIENCE}
            if await _run(page, _SCROLL, bool, steps):
                await _quiet(page, QUIET)
    except TimeoutError:
        pass


async def _settle_page(page: Page) -> int:
    loaded = asyncio.create_task(page.wait_for_load_state("networkidle", timeout=0))
    try:
        before = await _quiet(page, QUIET)
        if not loaded.done():
            await _either(loaded, asyncio.create_task(_quiet(page, LONG_QUIET, LEAST, SETTLE)))
        chars = await _run(page, _CHARS, int)
        return chars if chars == before >= LEAST else await _quiet(page, QUIET, LEAST)
    finally:
        loaded.cancel()
        await asyncio.gather(loaded, return_exceptions=True)


async def _either(loaded: asyncio.Task[None], still: asyncio.Task[int]) -> None:
    try:
        await asyncio.wait({loaded, still}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        still.cancel()
        await asyncio.gather(still, return_exceptions=True)


async def _let_pass(page: Page) -> None:
    loop = asyncio.get_running_loop()
    until = loop.time() + CHECK
    while loop.time() < until and is_passable(await _run(page, _BEGINNING, str)):  # noqa: ASYNC110 - it happens in another process
        await asyncio.sleep(0.3)


async def _quiet(page: Page, quiet: int, least: int = 0, most: float = EMPTY) -> int:
    """Wait at most `most` seconds until the page's text has at least `least` characters and has not
    changed for `quiet` ms. Return its length.
    """
    asked = {"quiet": quiet, "most": most * 1000, "least": least}
    return await _run(page, _SETTLE, int, asked)


async def _run(page: Page, script: str, made: Callable[[Any], T], given: Any = None) -> T:
    """Return a script's result, retrying after navigation. Raises Unreadable if it is invalid."""
    while True:
        try:
            return made(await page.evaluate(script, given))
        except _ODD:
            raise Unreadable("The page's scripts gave the browser invalid data.") from None
        except Error as error:
            if not any(sign in str(error) for sign in _GONE):
                raise
            await page.wait_for_load_state("domcontentloaded", timeout=0)


async def _handed_over(tab: Tab, errand: Errand, response: Response | None) -> Fetched:
    if tab.page.url.startswith(_ERROR_PAGE):
        raise _explain_loss(tab, errand, "")
    url = check_url(tab.page.url)
    read = partial(_read_whole, errand.most_bytes)
    found = await _run(tab.page, _WHOLE, read, {"most": errand.most_bytes})
    status = found.status or (response.status if response else 200)
    if _from_proxy(tab, url, status):
        raise _explain_loss(tab, errand, "")
    Answer(url, status, httpx.Headers()).check()
    if found.html is None:
        raise TooLarge(f"The page is larger than {errand.most_bytes:,} bytes.")
    html = found.html.encode(errors="replace")
    return Fetched(url, status, found.type, "utf-8", html, LEVEL)


def _read_whole(most: int, told: Any) -> _Whole:
    html = None if told["html"] is None else str(told["html"])
    fits = html is not None and len(html) <= most
    return _Whole(int(told["status"] or 0), html if fits else None, str(told["type"]))


def _from_proxy(tab: Tab, url: str, status: int) -> bool:
    host = (urlsplit(url).hostname or "").strip("[]")
    answered = {REFUSED: tab.permission.refused, FAILED: tab.permission.failed}
    return host in answered.get(status, ())


def _in_our_words(tab: Tab, errand: Errand, error: Error) -> FetchError:
    said, page = error.message.partition("\n")[0], printable_url(errand.url)
    if "Download is starting" in said:
        return Unreadable(f"{page} is a download; the browser does not fetch downloads.")
    if "crashed" in said or "has been closed" in said:
        return Unreachable(f"{page} crashed the browser.")
    return _explain_loss(tab, errand, said)


def _explain_loss(tab: Tab, errand: Errand, said: str) -> FetchError:
    host = (urlsplit(errand.url).hostname or "").strip("[]")
    refused, failed = (
        [*reasons.values()][-1:] if host not in reasons else [reasons[host]]
        for reasons in (tab.permission.refused, tab.permission.failed)
    )
    if refused:
        return NotAllowed(refused[0], hint="If you own the host, add it to SPADEWORK_ALLOW_HOSTS.")
    code = _CODE.search(said)
    reason = failed[0] if failed else code[0] if code else "the browser shows an error"
    return Unreachable(
        f"{printable_url(errand.url)} could not be reached by the browser: {reason}."
    )

"""Warm browser contexts: one visit at a time, emptied afterwards, renewed for another host."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page

from spadework.tools.fetch.browser.flags import CONTEXT
from spadework.tools.fetch.browser.page_lifecycle import empty_context, renew_page
from spadework.tools.fetch.browser.permission import Permission
from spadework.tools.fetch.browser.proxy import Proxy

#: Visits after which a context is closed, so that leaks do not grow without bound.
MOST_VISITS = 50
#: Seconds to open, and to empty or close, a context; one that takes longer hangs and is abandoned.
OPEN_SECONDS = 15.0
EMPTY_SECONDS = 15.0


@dataclass
class Tab:
    """A context of one `owner`, with one blank page and its permission."""

    owner: object
    permission: Permission
    context: BrowserContext
    page: Page
    devtools: CDPSession
    host: str = ""
    visits: int = 0


class Tabs:
    """The contexts of one browser."""

    def __init__(self, browser: Browser, proxy: Proxy, most: int) -> None:
        self._browser, self._proxy = browser, proxy
        self._slots, self._most = asyncio.Semaphore(most), most
        self._idle: list[Tab] = []
        self._emptying: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def tab(self, owner: object, host: str, permission: Permission) -> AsyncIterator[Tab]:
        """Yield a blank page for `host`, in an idle context of this owner or a new one."""
        await self._slots.acquire()
        tab: Tab | None = None
        try:
            tab = await self._take(owner, host) or await self._opened(owner, permission)
            tab.host = host
            yield tab
        finally:
            # Not awaited: a cancelled visit must not wait. The slot is freed once the page is gone.
            self._later(self._give_back(tab))

    async def aclose(self) -> None:
        """Stop emptying contexts. The browser closes the rest."""
        for task in self._emptying:
            task.cancel()
        await asyncio.gather(*self._emptying, return_exceptions=True)

    async def _take(self, owner: object, host: str) -> Tab | None:
        """Return an idle context warm for `host`, or one renewed for it."""
        known = [tab for tab in self._idle if tab.owner is owner]
        if not known:
            return None
        tab = next((tab for tab in known if tab.host == host), known[0])
        self._idle.remove(tab)
        if tab.host == host:
            return tab
        try:
            async with asyncio.timeout(EMPTY_SECONDS):
                tab.page, tab.devtools = await renew_page(tab.context, tab.page, tab.devtools)
        except BaseException as error:
            self._later(self._close(tab))
            if isinstance(error, Error | TimeoutError):
                return None
            raise
        return tab

    async def _opened(self, owner: object, permission: Permission) -> Tab:
        self._proxy.admit(permission)
        context: BrowserContext | None = None
        try:
            async with asyncio.timeout(OPEN_SECONDS):
                context = await self._browser.new_context(**CONTEXT)
                page = await context.new_page()
                return Tab(owner, permission, context, page, await context.new_cdp_session(page))
        except BaseException:
            self._proxy.dismiss(permission)
            if context:
                self._later(_close_context(context))
            raise

    async def _give_back(self, tab: Tab | None) -> None:
        try:
            if tab:
                await self._emptied(tab)
        finally:
            self._slots.release()

    async def _emptied(self, tab: Tab) -> None:
        """Empty a context and keep it for the next visit; close it if that fails or after
        MOST_VISITS. The page stays, since a new one needs a new process, slower than reading most
        pages.
        """
        tab.visits += 1
        try:
            async with asyncio.timeout(EMPTY_SECONDS):
                clean = tab.visits < MOST_VISITS and await empty_context(
                    tab.context, tab.page, tab.devtools, tab.host
                )
        except (Error, TimeoutError):
            clean = False
        if clean:
            self._idle.append(tab)
        else:
            await self._close(tab)
        while len(self._idle) > self._most:
            await self._close(self._idle.pop(0))

    async def _close(self, tab: Tab) -> None:
        self._proxy.dismiss(tab.permission)
        await _close_context(tab.context)

    def _later(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._emptying.add(task)
        task.add_done_callback(self._emptying.discard)


async def _close_context(context: BrowserContext) -> None:
    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(EMPTY_SECONDS):
            await context.close()

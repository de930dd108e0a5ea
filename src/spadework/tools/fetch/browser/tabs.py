"""Reuse browser contexts, emptying them between visits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import Browser, BrowserContext, CDPSession, Error, Page

from spadework.tools.fetch.browser.proxy import Permission, Proxy

#: Chromium features to turn off. They include Playwright's defaults, because only the last
#: `--disable-features` flag counts.
_OFF = (
    # Internal pages of the address bar. They cause most of the cost of opening a browser context.
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup", "PreloadTopChromeWebUI"),
    *("SpareRendererForSitePerProcess", "AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect"),
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"),
    *("HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay", "MediaRouter"),
    *("NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
)
#: Flags that keep traffic from bypassing the proxy, and that turn off unused features.
FLAGS = (
    "--disable-quic",
    # Only the proxy may resolve host names.
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-domain-reliability", "--no-pings"),
    "--block-new-web-contents",  # blocks popups in the headless shell
    *("--no-first-run", "--no-default-browser-check", "--disable-extensions"),
    *("--disable-gpu", "--disable-gpu-compositing", "--disable-software-rasterizer"),
    *("--disable-dev-shm-usage", "--mute-audio", "--autoplay-policy=user-gesture-required"),
    "--blink-settings=imagesEnabled=false,hyperlinkAuditingEnabled=false",
    "--disable-remote-fonts",
    "--js-flags=--max-old-space-size=512",
    f"--disable-features={','.join(_OFF)}",
)
#: Playwright's default flags to leave out. This one would let pages open pop-up windows.
NOT_WANTED = ("--disable-popup-blocking",)
VIEWPORT = {"width": 1366, "height": 900}
CONTEXT: dict[str, Any] = {
    "accept_downloads": False,
    "service_workers": "block",
    "viewport": VIEWPORT,
}


@asynccontextmanager
async def authenticate_proxy(devtools: CDPSession, permission: Permission) -> AsyncIterator[None]:
    """Authenticate a browser context to the proxy during its first visit. Until `empty_context` is
    called, only requests for documents are paused. Playwright's own method would pause every
    request and disable the cache.
    """
    given = {"response": "ProvideCredentials"}
    given |= {"username": permission.user, "password": permission.password}
    sent: set[asyncio.Future[Any]] = set()

    def answer(method: str, along: dict[str, Any], event: dict[str, Any]) -> None:
        asked = {"requestId": event["requestId"], **along}
        sent.add(asyncio.ensure_future(devtools.send(method, asked)))

    answers: dict[str, Any] = {
        "Fetch.requestPaused": partial(answer, "Fetch.continueRequest", {}),
        "Fetch.authRequired": partial(
            answer, "Fetch.continueWithAuth", {"authChallengeResponse": given}
        ),
    }
    for name, hear in answers.items():
        devtools.on(name, hear)
    try:
        held = {"handleAuthRequests": True, "patterns": [{"resourceType": "Document"}]}
        await devtools.send("Fetch.enable", held)
        yield
    finally:
        for name, hear in answers.items():
            devtools.remove_listener(name, hear)
        await asyncio.gather(*sent, return_exceptions=True)


async def empty_context(
    context: BrowserContext, page: Page, devtools: CDPSession, host: str
) -> bool:
    """Clear what a visit to `host` left behind. Return False if the page is on another host."""
    for other in context.pages:
        if other is not page:
            await other.close()
    if urlsplit(page.url).hostname != host:
        return False
    await devtools.send("Emulation.setScriptExecutionDisabled", {"value": True})
    tree = await devtools.send("Page.getFrameTree")
    frame = {"frameId": tree["frameTree"]["frame"]["id"]}
    key = await devtools.send("Storage.getStorageKeyForFrame", frame)
    storage = {"storageKey": key["storageKey"], "isLocalStorage": False}
    await devtools.send("DOMStorage.clear", {"storageId": storage})
    await page.goto("about:blank", wait_until="commit")
    await devtools.send("Fetch.disable")
    await devtools.send("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"})
    await devtools.send("Emulation.setScriptExecutionDisabled", {"value": False})
    await page.evaluate("window.name = ''")
    await devtools.send("Page.resetNavigationHistory")
    return True


async def renew_page(
    context: BrowserContext, page: Page, devtools: CDPSession
) -> tuple[Page, CDPSession]:
    """Give an emptied context a new page, process and cache. A new context takes twice as long."""
    await devtools.send("Network.clearBrowserCache")
    fresh = await context.new_page()
    await page.close()
    return fresh, await context.new_cdp_session(fresh)


#: Number of visits after which a context is closed, to limit memory leaks.
MOST_VISITS = 50
#: Seconds after which opening, emptying or closing a context is abandoned.
OPEN_SECONDS = 15.0
EMPTY_SECONDS = 15.0


@dataclass
class Tab:
    """A browser context that belongs to `owner`, and its only page."""

    owner: object
    permission: Permission
    context: BrowserContext
    page: Page
    devtools: CDPSession
    host: str = ""
    visits: int = 0


class Tabs:
    """Manages the contexts of one browser, at most `most` of which are in use at a time."""

    def __init__(self, browser: Browser, proxy: Proxy, most: int) -> None:
        self._browser, self._proxy = browser, proxy
        self._slots, self._most = asyncio.Semaphore(most), most
        self._idle: list[Tab] = []
        self._emptying: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def tab(self, owner: object, host: str, permission: Permission) -> AsyncIterator[Tab]:
        """Yield a tab for a page on `host`, reusing an idle tab of `owner` if possible."""
        await self._slots.acquire()
        tab: Tab | None = None
        try:
            tab = await self._take(owner, host) or await self._opened(owner, permission)
            tab.host = host
            yield tab
        finally:
            # Do this in the background, because a cancelled visit must not wait for it.
            self._later(self._give_back(tab))

    async def aclose(self) -> None:
        """Stop emptying contexts. They are closed together with the browser."""
        for task in self._emptying:
            task.cancel()
        await asyncio.gather(*self._emptying, return_exceptions=True)

    async def _take(self, owner: object, host: str) -> Tab | None:
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
        """Empty a tab's context for reuse, or close it if it cannot be reused. Keep the page,
        because a new one would start a new process, which is slow.
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

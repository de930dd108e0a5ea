"""A page before and after a visit: presented to the proxy, and emptied for the next one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Page

from spadework.tools.fetch.browser.permission import Permission


@asynccontextmanager
async def presenting(devtools: CDPSession, permission: Permission) -> AsyncIterator[None]:
    """Inside, which is the whole first visit of a context, its documents are asked for with its
    leave. The context remembers what it has answered to the proxy.

    Playwright would answer every question of the proxy, but for that it holds every request, and
    turns the cache off. Chromium is told to hold no more by `empty_context`: where it is told while
    a script leads the page on to another, the page sometimes hangs for good.
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
    """Take away what a visit to `host` has left: pages, cookies, storage, history; False if the
    page is elsewhere. Session storage needs its document, whose scripts are stopped for that.
    """
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
    """Another page, process and empty cache in an emptied context: in half a new one's time."""
    await devtools.send("Network.clearBrowserCache")
    fresh = await context.new_page()
    await page.close()
    return fresh, await context.new_cdp_session(fresh)

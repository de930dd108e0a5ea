"""Before and after a visit: authenticate a page to the proxy, and empty it for the next visit."""

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
async def authenticate_proxy(devtools: CDPSession, permission: Permission) -> AsyncIterator[None]:
    """Authenticate a context's documents to the proxy during its first visit. Chromium then
    remembers the credentials.

    Playwright could answer the proxy, but it would pause every request and disable the cache.
    Interception ends in `empty_context`: ending it while a script navigates sometimes hangs the
    page.
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
    """Clear what a visit to `host` left: pages, cookies, storage, history. Return False if the page
    is elsewhere. Clearing session storage needs the document, whose scripts are stopped first.
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
    """Replace an emptied context's page, with a new process and empty cache, in half the time of a
    new context.
    """
    await devtools.send("Network.clearBrowserCache")
    fresh = await context.new_page()
    await page.close()
    return fresh, await context.new_cdp_session(fresh)

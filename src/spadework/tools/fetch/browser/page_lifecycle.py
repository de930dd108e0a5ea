"""A page before and after a visit: presented to the proxy, and emptied for the next one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.async_api import BrowserContext, CDPSession, Page

from spadework.tools.fetch.browser.permission import Permission

#: For an event of the devtools, the method that answers it and what goes along.
Answers = dict[str, tuple[str, dict[str, Any]]]


def presenting(devtools: CDPSession, permission: Permission) -> AbstractAsyncContextManager[None]:
    """Inside, which is the whole first visit of a context, its documents are asked for with its
    leave. The context remembers what it has answered to the proxy.

    Playwright would answer every question of the proxy, but for that it holds every request, and
    turns the cache off. Chromium is told to hold no more by `empty_context`: where it is told while
    a script leads the page on to another, the page sometimes hangs for good.
    """
    given = {
        "response": "ProvideCredentials",
        "username": permission.user,
        "password": permission.password,
    }
    answers: Answers = {
        "Fetch.requestPaused": ("Fetch.continueRequest", {}),
        "Fetch.authRequired": ("Fetch.continueWithAuth", {"authChallengeResponse": given}),
    }
    return _answering(
        devtools, answers, {"handleAuthRequests": True, "patterns": [{"resourceType": "Document"}]}
    )


async def empty_context(
    context: BrowserContext, page: Page, devtools: CDPSession, host: str
) -> bool:
    """Take away what a visit to `host` has left: other pages, cookies, storage, the history. False
    where the page has gone elsewhere.

    The storage of the session can be reached only while its document is there, whose scripts are
    stopped for that.
    """
    for other in context.pages:
        if other is not page:
            await other.close()
    if urlsplit(page.url).hostname != host:
        return False
    await devtools.send("Emulation.setScriptExecutionDisabled", {"value": True})
    tree = await devtools.send("Page.getFrameTree")
    key = await devtools.send(
        "Storage.getStorageKeyForFrame", {"frameId": tree["frameTree"]["frame"]["id"]}
    )
    await devtools.send(
        "DOMStorage.clear",
        {"storageId": {"storageKey": key["storageKey"], "isLocalStorage": False}},
    )
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
    """Another page in an emptied context, in a process of its own, with an empty cache: as a new
    context would be, in half the time.
    """
    await devtools.send("Network.clearBrowserCache")
    fresh = await context.new_page()
    await page.close()
    return fresh, await context.new_cdp_session(fresh)


@asynccontextmanager
async def _answering(
    devtools: CDPSession, answers: Answers, enable: dict[str, Any]
) -> AsyncIterator[None]:
    """Requests of the page are held as `enable` says, and each event is answered with its method
    and what goes along.
    """
    sent: set[asyncio.Future[Any]] = set()

    def answer(event: dict[str, Any], method: str, along: dict[str, Any]) -> None:
        sent.add(
            asyncio.ensure_future(devtools.send(method, {"requestId": event["requestId"], **along}))
        )

    heard = {
        name: (lambda event, method=method, along=along: answer(event, method, along))
        for name, (method, along) in answers.items()
    }
    for name, hear in heard.items():
        devtools.on(name, hear)
    try:
        await devtools.send("Fetch.enable", enable)
        yield
    finally:
        for name, hear in heard.items():
            devtools.remove_listener(name, hear)
        await asyncio.gather(*sent, return_exceptions=True)

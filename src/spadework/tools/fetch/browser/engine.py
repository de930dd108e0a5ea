"""Run Chromium in its own thread, so that it outlives event loops."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, TimeoutError as FutureTimeout
from typing import Any, TypeVar

import psutil
from playwright.async_api import Browser, Error, Playwright, async_playwright

from spadework.errors import SettingsError
from spadework.tools.fetch.browser.proxy import Proxy
from spadework.tools.fetch.browser.tabs import FLAGS, NOT_WANTED, Tabs
from spadework.tools.web.chromium import HOW_TO_INSTALL, runs_as_root

T = TypeVar("T")
START_SECONDS = 20.0
#: Seconds that Chromium may take to close before it is killed.
CLOSE_SECONDS = 5.0
GONE_SECONDS = 3.0


class Engine:
    """Runs Chromium, starting it with the first task and restarting it when it breaks."""

    def __init__(self, path: str, *, sandbox: bool, pages: int) -> None:
        self._path, self._sandbox, self._pages = path, sandbox, pages
        self._loop = asyncio.new_event_loop()
        self._starting = asyncio.Lock()
        self._running: _Running | None = None
        self._works: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._run, name="browser", daemon=True)
        self._thread.start()

    def submit(self, work: Callable[[Tabs], Coroutine[Any, Any, T]]) -> Future[T]:
        """Run `work` in the browser's thread. Cancelling the future cancels the work."""
        return asyncio.run_coroutine_threadsafe(self._do(work), self._loop)

    def close(self) -> None:
        """Close Chromium and stop its thread. This blocks, usually for at most CLOSE_SECONDS."""
        closing = asyncio.run_coroutine_threadsafe(self._close(), self._loop)
        with contextlib.suppress(FutureTimeout):
            closing.result(CLOSE_SECONDS)
        if self._running:
            _kill(self._running.processes)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            self._loop.close()

    async def _do(self, work: Callable[[Tabs], Coroutine[Any, Any, T]]) -> T:
        task = asyncio.current_task()
        assert task
        self._works.add(task)
        try:
            return await work((await self._started()).tabs)
        finally:
            self._works.discard(task)

    async def _started(self) -> _Running:
        async with self._starting:
            if self._running and not self._running.browser.is_connected():
                await self._end(self._running)
            if not self._running:
                self._running = await _start(self._path, sandbox=self._sandbox, pages=self._pages)
            return self._running

    async def _close(self) -> None:
        for work in self._works:
            work.cancel()
        await asyncio.gather(*self._works, return_exceptions=True)
        async with self._starting:
            if self._running:
                await self._end(self._running)

    async def _end(self, running: _Running) -> None:
        running.note_processes()
        with contextlib.suppress(Error, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS - 1):
                await running.tabs.aclose()
                await running.browser.close()
                await running.playwright.stop()
        await running.proxy.aclose()
        _kill(running.processes)
        self._running = None


class _Running:
    def __init__(
        self, playwright: Playwright, browser: Browser, proxy: Proxy, address: str, pages: int
    ) -> None:
        self.playwright, self.browser, self.proxy = playwright, browser, proxy
        self._address = address
        self.tabs = Tabs(browser, proxy, pages)
        self.processes: list[psutil.Process] = []
        self.note_processes()

    def note_processes(self) -> None:
        """Record the browser's processes before they are orphaned and can no longer be found."""
        self.processes = list({*self.processes, *_processes_of(self._address)})


async def _start(path: str, *, sandbox: bool, pages: int) -> _Running:
    proxy = Proxy()
    address = await proxy.open()
    playwright: Playwright | None = None
    try:
        async with asyncio.timeout(START_SECONDS):
            playwright = await async_playwright().start()
            browser = await playwright.chromium.launch(
                executable_path=path,
                args=list(FLAGS),
                ignore_default_args=list(NOT_WANTED),
                proxy={"server": address, "bypass": "<-loopback>"},
                chromium_sandbox=sandbox and not runs_as_root(),
                handle_sigint=False,
                handle_sigterm=False,
                handle_sighup=False,
                timeout=START_SECONDS * 1000,
            )
            return _Running(playwright, browser, proxy, address, pages)
    except BaseException as error:
        _kill(_processes_of(address))
        if playwright:
            await playwright.stop()
        await proxy.aclose()
        if isinstance(error, Error | TimeoutError):
            mend = (
                f"Install another browser ({HOW_TO_INSTALL}) and set SPADEWORK_CHROMIUM to its"
                " path."
            )
            if "sandbox" in str(error).lower():
                mend = (
                    "The browser's sandbox does not work on this system. If you read only pages you"
                    " trust, set SPADEWORK_BROWSER_SANDBOX=false."
                )
            raise SettingsError(f"The browser {path} could not be started.", hint=mend) from error
        raise


def _processes_of(proxy: str) -> list[psutil.Process]:
    own = psutil.Process()
    above, found = {own, *own.parents()}, list[psutil.Process]()
    for child in own.children(recursive=True):
        with contextlib.suppress(psutil.Error):
            if f"--proxy-server={proxy}" in child.cmdline():
                found += [child, *child.children(recursive=True), *child.parents()]
    return list(dict.fromkeys(process for process in found if process not in above))


def _kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(processes, GONE_SECONDS)

"""Share one browser among all sessions, from the first page until no `Browser` uses it."""

from __future__ import annotations

import asyncio
import importlib.util
import threading
import weakref
from functools import cached_property, partial
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from spadework.errors import SettingsError, TooSlow, how_to_install
from spadework.settings import Settings
from spadework.tools.fetch import guard as connect
from spadework.tools.fetch.exchange import Fetched
from spadework.tools.fetch.guard import check_url, printable_url
from spadework.tools.web.background_threads import aside
from spadework.tools.web.chromium import HOW_TO_INSTALL, headless_shell, installed_chromium
from spadework.tools.web.fair_queue import far_place

if TYPE_CHECKING:  # Playwright is an optional dependency
    from spadework.tools.fetch.browser.engine import Engine
    from spadework.tools.fetch.browser.tabs import Tabs


class _Holder:
    gone = False


#: Maximum number of open pages, and maximum number of bytes that each page may load and send.
PAGES, MOST_BYTES = 4, 50_000_000
_lock = threading.Lock()
_holders: set[_Holder] = set()
_engines: dict[str, Engine] = {}


class Browser:
    """A context manager that reads pages in the browser."""

    def __init__(self, settings: Settings, *, resolve: connect.Resolve = connect.resolve) -> None:
        self._settings, self._resolve = settings, resolve
        self.max_level = settings.max_level
        self._holder = _Holder()
        # The finalizer also runs at exit, or when this object is garbage-collected.
        self._let_go = weakref.finalize(self, _release, self._holder)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await aside(self._let_go)

    @cached_property
    def what_is_missing(self) -> str:
        """A sentence that says what must be installed to use the browser, or ""."""
        if importlib.util.find_spec("playwright") is None:
            return f"Browsing needs the `browser` extra: {how_to_install('browser')}."
        if not installed_chromium(self._settings.chromium):
            chromium = self._settings.chromium
            named = f"{chromium} cannot be run" if chromium else "No Chromium is installed"
            return f"{named}. To install it, run {HOW_TO_INSTALL}."
        return ""

    async def visit(self, url: str, *, seconds: float) -> Fetched:
        """Return the page's HTML after its scripts have run. Raises SettingsError if there is no
        browser, and FetchError if the visit fails or takes longer than `seconds`.
        """
        if self.what_is_missing:
            raise SettingsError("No browser is available.", hint=self.what_is_missing)
        url = check_url(url)
        try:
            # All sessions share the limit on pages per host.
            most, what = self._settings.parallel_per_host, f"{urlsplit(url).netloc} in the browser"
            async with asyncio.timeout(seconds) as limit, far_place(what, id(self), most):
                engine = await aside(_hold_engine, self._holder, self._settings)
                left = (limit.when() or 0.0) - asyncio.get_running_loop().time()
                owner = (self._holder, self._settings, self._resolve)
                visiting = engine.submit(partial(_visit_page, owner, url, left))
                return await asyncio.wrap_future(visiting)
        except TimeoutError:
            raise TooSlow(
                f"{printable_url(url)} did not load within {seconds:.3g} s in the browser."
            ) from None


async def _visit_page(
    owner: tuple[_Holder, Settings, connect.Resolve], url: str, seconds: float, tabs: Tabs
) -> Fetched:
    from spadework.tools.fetch.browser.proxy import Permission
    from spadework.tools.fetch.browser.visit import Errand, visit

    holder, settings, resolve = owner
    until = asyncio.get_running_loop().time() + seconds
    permission = Permission(resolve, settings.allow_hosts, MOST_BYTES)
    async with tabs.tab(holder, urlsplit(url).hostname or "", permission) as tab:
        left = until - asyncio.get_running_loop().time()
        return await visit(tab, Errand(url, left, settings.page_bytes))


def choose_browser(settings: Settings) -> str:
    """Return the path of the configured or best installed browser, or ""."""
    shell = "" if settings.chromium else headless_shell()
    return shell or installed_chromium(settings.chromium)


def _hold_engine(holder: _Holder, settings: Settings) -> Engine:
    from spadework.tools.fetch.browser.engine import Engine

    with _lock:
        if holder.gone:
            raise SettingsError("The browser is closed.")
        path = choose_browser(settings)
        if path not in _engines:
            sandbox, pages = settings.browser_sandbox, PAGES
            _engines[path] = Engine(path, sandbox=sandbox, pages=pages)
        _holders.add(holder)
        return _engines[path]


def _release(holder: _Holder) -> None:
    """Unregister `holder`, and close the browser if no holder is left. This may block."""
    with _lock:
        holder.gone = True
        _holders.discard(holder)
        while _engines and not _holders:
            _engines.popitem()[1].close()

"""Pages from the web: checked addresses, robots.txt, one pool of connections, and patience that
ends with the deadline.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx

from spadework.errors import TooLarge, TooSlow, Unreachable
from spadework.settings import Settings
from spadework.tools.fetch import connect
from spadework.tools.fetch.byte_store import Store
from spadework.tools.fetch.exchange import Answer, exchange
from spadework.tools.fetch.extraction_cache import Cleaned
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import check_url, printable_url
from spadework.tools.fetch.headers import for_level, retry_after
from spadework.tools.fetch.hosts import Hosts
from spadework.tools.fetch.http_cache import HttpCache
from spadework.tools.fetch.redirect import next_url
from spadework.tools.fetch.robots import Robots, TooSoon
from spadework.tools.fetch.server_faults import lasting
from spadework.tools.fetch.streams import Pool
from spadework.tools.web.retries import ask_again
from spadework.tools.web.slots import far_place

MAX_CONNECTIONS = 100
KEEPALIVE_SECONDS = 15.0

#: A request that broke, or met one of these statuses, is sent again this often in all. 503 means
#: "later" and is treated apart.
ATTEMPTS = 2
PASSING = frozenset({500, 502, 504})

#: "Later" is worth waiting for when it is at most this many seconds away.
SHORT_WAIT = 5.0
LATER = frozenset({429, 503})

#: The levels of asking: plainly, and like a browser.
LEVELS = (0, 1)


def _passing(error: BaseException) -> bool:
    """May the error be gone the next time? Not so for a name that does not exist, nor for a bad
    certificate.
    """
    return (
        isinstance(error, Unreachable)
        and not isinstance(error.__cause__, connect.NoSuchHost)
        and not lasting(error)
    )


class Web:
    """The one place that opens connections to the web; an async context manager. `resolve` finds
    the addresses of a name.
    """

    def __init__(self, settings: Settings, *, resolve: connect.Resolve = connect.resolve) -> None:
        self._settings = settings
        self._backend = connect.GuardedBackend(resolve, settings.allow_hosts)
        store = Store(settings.home / "cache", settings.cache_mb * 1_000_000)
        self._robots = Robots(settings.user_agent, self._robots_txt, store)
        self._cache = HttpCache(store, settings.allow_hosts)
        #: The level that was asked for to begin with.
        self.min_level = settings.min_level
        #: The texts of pages read before, for whoever reads what is fetched here.
        self.cleaned = Cleaned(store)
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.hosts = await Hosts.open(self._settings.home)
        self._pool = await self._open.enter_async_context(
            Pool(
                ssl_context=await asyncio.to_thread(httpx.create_ssl_context),
                network_backend=self._backend,
                most=MAX_CONNECTIONS,
                keep_seconds=KEEPALIVE_SECONDS,
            )
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._open.aclose()

    async def fetch(self, url: str, *, seconds: float) -> Fetched:
        """The page at `url`, redirects followed, within `seconds`; a copy marked as stale where its
        server cannot be reached.

        Raises NotAllowed, Blocked, TooLarge, TooSlow, Unreadable or Unreachable, each with one
        sentence that says why.
        """
        url = check_url(url)
        try:
            async with asyncio.timeout(seconds) as limit:
                return await self._fetch_or_fall_back(url, limit.when() or 0.0)
        except TimeoutError:
            raise TooSlow(f"{printable_url(url)} did not come within {seconds:.3g} s.") from None

    async def ask_permission(self, url: str, *, seconds: float) -> None:
        """Return when a page that a browser will fetch may be fetched, by the robots.txt of its
        site.

        Raises Blocked when it may not be, TooSlow when that is only after `seconds`.
        """
        self.hosts.check(url)
        if self._settings.robots:
            await self._robots.ask_permission(url, asyncio.get_running_loop().time() + seconds)

    async def _fetch_or_fall_back(self, url: str, deadline: float) -> Fetched:
        try:
            return await self._levels_up(url, deadline)
        except TooSoon:
            raise
        except (Unreachable, TooSlow):
            copy = await self._stand_in(url)
            if copy is None:
                raise
            return copy.fetched(min(1, self.hosts.level(urlsplit(url).netloc)))

    async def _stand_in(self, url: str) -> Answer | None:
        """The copy of a page that cannot be had now, also of one that is known to have moved."""
        for _ in range(self._settings.redirects + 1):
            copy = await self._cache.stale(url, LEVELS)
            target = next_url(copy) if copy else None
            if target is None:
                return copy
            url = target
        return None

    async def _levels_up(self, url: str, deadline: float) -> Fetched:
        """Ask; if the server says "later", and soon, ask then; if it turns us away, ask once more
        like a browser.
        """
        host = urlsplit(url).netloc
        level = min(1, self.hosts.level(host) or self.min_level, self._settings.max_level)
        answer = await self._visit(url, level, deadline)
        later = retry_after(answer.headers) if answer.status in LATER else None
        if later is not None and later <= min(
            SHORT_WAIT, deadline - asyncio.get_running_loop().time()
        ):
            await asyncio.sleep(later)
            answer = await self._visit(url, level, deadline)
        elif later is not None and not answer.from_cache:
            await self.hosts.later(answer.url, answer.status, later)
        elif answer.turned_away and level < min(1, self._settings.max_level):
            level = 1
            answer = await self._visit(url, level, deadline)
        answer.check()
        await self.hosts.gave(host, level)
        return answer.fetched(level)

    async def _visit(self, url: str, level: int, deadline: float | None) -> Answer:
        """Go where the redirects lead; cookies last as long as the visit. Without a deadline no
        site is asked for leave.
        """
        cookies = httpx.Cookies()
        for _ in range(self._settings.redirects + 1):
            headers = for_level(level, url, self._settings.user_agent, cookies)
            answer = await self._cache.ask(url, level, headers, partial(self._send, url, deadline))
            if len(answer.body) > self._settings.page_bytes:  # it was kept when more was allowed
                raise TooLarge(f"The page is larger than {self._settings.page_bytes:,} bytes.")
            target = next_url(answer)
            if target is None:
                return answer
            cookies.extract_cookies(
                httpx.Response(
                    answer.status, headers=answer.headers, request=httpx.Request("GET", url)
                )
            )
            url = target
        raise Unreachable(
            f"{printable_url(url)} is behind more than {self._settings.redirects} redirects."
        )

    async def _send(self, url: str, deadline: float | None, headers: dict[str, str]) -> Answer:
        """Ask the server, once its robots.txt has given leave. Raises Blocked while it wants to be
        left alone.
        """
        self.hosts.check(url)
        if deadline and self._settings.robots:
            await self._robots.ask_permission(url, deadline)
        return await self._get(url, headers)

    async def _robots_txt(self, url: str) -> Answer:
        return await self._visit(url, 0, None)

    async def _get(self, url: str, headers: dict[str, str]) -> Answer:
        """One request, and a second where it broke."""
        ask = partial(self._ask, url, headers)
        return await ask_again(ask, _passing, ATTEMPTS, first=0.2, jitter=0.2)

    async def _ask(self, url: str, headers: dict[str, str]) -> Answer:
        """One request, made when the host has a place for it, also beside those of other
        sessions.
        """
        limits = self._settings
        async with far_place(urlsplit(url).netloc, id(self), limits.parallel_per_host):
            answer = await exchange(
                self._pool,
                url,
                headers,
                first_byte_seconds=limits.first_byte_seconds,
                most_bytes=limits.page_bytes,
            )
        if answer.status in PASSING:
            answer.check()
        return answer

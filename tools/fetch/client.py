"""Pages from the web: checked addresses, robots.txt, one pool of connections, and patience that ends with the deadline."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpcore
import httpx
import stamina

from spadework.errors import TooSlow, Unreachable
from spadework.settings import Settings
from spadework.tools.fetch import connect
from spadework.tools.fetch.exchange import Answer, exchange
from spadework.tools.fetch.fetched import Fetched
from spadework.tools.fetch.guard import check_url, shown
from spadework.tools.fetch.headers import for_level, retry_after
from spadework.tools.fetch.redirect import next_url
from spadework.tools.fetch.robots import Robots

MAX_CONNECTIONS = 100
KEEPALIVE_SECONDS = 15.0

#: A request that broke, or met one of these statuses, is sent again this often in all. 503 means "later" and is treated apart.
ATTEMPTS = 2
PASSING = frozenset({500, 502, 504})

#: "Later" is worth waiting for when it is at most this many seconds away.
SHORT_WAIT = 5.0
LATER = frozenset({429, 503})

#: Statuses with which servers turn away what does not look like a browser.
TURNED_AWAY = frozenset({403, 406, 429, 503})


def _passing(error: Exception) -> bool:
    """May the error be gone the next time? Not so for a name that does not exist."""
    return isinstance(error, Unreachable) and not isinstance(error.__cause__, connect.NoSuchHost)


class Web:
    """The one place that opens connections to the web; an async context manager. `resolve` finds the addresses of a name."""

    def __init__(self, settings: Settings, *, resolve: connect.Resolve = connect.resolve) -> None:
        self._settings = settings
        self._backend = connect.GuardedBackend(resolve, settings.allow_hosts)
        self._robots = Robots(settings.user_agent, self._robots_txt)
        self._slots: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(settings.parallel_per_host))
        self._levels: dict[str, int] = {}
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._pool = await self._open.enter_async_context(
            httpcore.AsyncConnectionPool(
                ssl_context=await asyncio.to_thread(httpx.create_ssl_context),
                max_connections=MAX_CONNECTIONS,
                keepalive_expiry=KEEPALIVE_SECONDS,
                http2=True,
                network_backend=self._backend,
            )
        )
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self._open.aclose()

    async def fetch(self, url: str, *, seconds: float) -> Fetched:
        """The page at `url`, redirects followed, within `seconds`.

        Raises NotAllowed, Blocked, TooLarge, TooSlow, Unreadable or Unreachable, each with one sentence that says why.
        """
        url = check_url(url)
        try:
            async with asyncio.timeout(seconds) as limit:
                return await self._levels_up(url, limit.when() or 0.0)
        except TimeoutError:
            raise TooSlow(f"{shown(url)} did not come within {seconds:.3g} s.") from None

    async def _levels_up(self, url: str, deadline: float) -> Fetched:
        """Ask; if the server says "later", and soon, ask then; if it turns us away, ask once more like a browser."""
        host = urlsplit(url).netloc
        level = self._levels.get(host, 0)
        answer = await self._visit(url, level, deadline)
        later = retry_after(answer.headers) if answer.status in LATER else None
        if later is not None and later <= min(SHORT_WAIT, deadline - asyncio.get_running_loop().time()):
            await asyncio.sleep(later)
            answer = await self._visit(url, level, deadline)
        elif later is None and answer.status in TURNED_AWAY and level == 0:
            level = 1
            answer = await self._visit(url, level, deadline)
        answer.check()
        self._levels[host] = level
        return answer.fetched(level)

    async def _visit(self, url: str, level: int, deadline: float | None) -> Answer:
        """Go where the redirects lead, asking each site's leave if there is a deadline; cookies last as long as the visit."""
        cookies = httpx.Cookies()
        for _ in range(self._settings.redirects + 1):
            if deadline and self._settings.robots:
                await self._robots.ask_leave(url, deadline)
            answer = await self._get(url, for_level(level, url, self._settings.user_agent, cookies))
            target = next_url(answer)
            if target is None:
                return answer
            cookies.extract_cookies(httpx.Response(answer.status, headers=answer.headers, request=httpx.Request("GET", url)))
            url = target
        raise Unreachable(f"{shown(url)} is behind more than {self._settings.redirects} redirects.")

    async def _robots_txt(self, url: str) -> Answer:
        return await self._visit(url, 0, None)

    async def _get(self, url: str, headers: dict[str, str]) -> Answer:
        """One request, and a second where it broke. (As a decorator, stamina would log the URL and the cookies.)"""
        async for attempt in stamina.retry_context(on=_passing, attempts=ATTEMPTS, timeout=None, wait_initial=0.2, wait_jitter=0.2):
            with attempt:
                answer = await self._ask(url, headers)
        return answer

    async def _ask(self, url: str, headers: dict[str, str]) -> Answer:
        """One request, made when the host has a slot for it."""
        limits = self._settings
        async with self._slots[urlsplit(url).netloc]:
            answer = await exchange(self._pool, url, headers, first_byte_seconds=limits.first_byte_seconds, most_bytes=limits.page_bytes)
        if answer.status in PASSING:
            answer.check()
        return answer

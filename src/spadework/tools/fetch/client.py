"""Fetch web pages with guarded connections, robots.txt, caching and retries."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from copy import copy
from dataclasses import replace
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

import httpx

from spadework.errors import FetchError, TooLarge, TooSlow, Unreachable
from spadework.settings import Settings
from spadework.tools import extract, text
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.pdf.ocr import has_ocr
from spadework.tools.extract.process import answer, document_reply
from spadework.tools.fetch import guard as connect
from spadework.tools.fetch.exchange import (
    Answer,
    Fetched,
    ended_in,
    exchange,
    for_level,
    is_permanent,
    next_url,
)
from spadework.tools.fetch.guard import check_url, printable_url
from spadework.tools.fetch.hosts import Hosts, Robots, TooSoon
from spadework.tools.fetch.http_cache import HttpCache, Store
from spadework.tools.web.connections import ask_again, read_certificates
from spadework.tools.web.fair_queue import far_place
from spadework.values import Attempt

_KIND = "text"
_READ = (".py", ".txt", ".toml")
_LIBRARIES = (
    "selectolax",
    "pypdfium2",
    "lxml",
    "striprtf",
    "markdown-it-py",
    "olefile",
    "python-calamine",
)


class Cleaned:
    """A cache of extracted documents, keyed by response and version of the extraction code."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def read_once(
        self, fetched: Fetched, read: Callable[[], Awaitable[Extracted]]
    ) -> Extracted:
        """Return a page's cached text, or call `read` and cache its result."""
        key, known = await asyncio.to_thread(self._look, fetched)
        if known is not None:
            return known
        found = await read()
        await asyncio.to_thread(self._keep, key, found)
        return found

    def _look(self, fetched: Fetched) -> tuple[str, Extracted | None]:
        said = "\0".join((_readers(), fetched.media_type, fetched.charset, fetched.url))
        key = hashlib.sha256(said.encode(errors="replace") + b"\0" + fetched.body).hexdigest()
        data = self._store.get(_KIND, key)
        try:
            return key, answer(json.loads(data)) if data else None
        except (ValueError, KeyError, TypeError):
            return key, None

    def _keep(self, key: str, found: Extracted) -> None:
        self._store.put(_KIND, key, json.dumps(document_reply(found)).encode())


@cache
def _readers() -> str:
    folders = (Path(str(package.__file__)).parent for package in (extract, text))
    files = [f for folder in folders for f in sorted(folder.rglob("*")) if f.suffix in _READ]
    digest = hashlib.sha256(" ".join(f"{name} {version(name)}" for name in _LIBRARIES).encode())
    digest.update(b"OCR" * has_ocr())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


MAX_CONNECTIONS = 100
REDIRECTS = 8
KEEPALIVE_SECONDS = 15.0
#: Maximum number of attempts at a request if the connection breaks or the status is in PASSING.
ATTEMPTS = 2
PASSING = frozenset({500, 502, 504})
#: The longest Retry-After that is worth waiting for, in seconds.
SHORT_WAIT = 5.0
LATER = frozenset({429, 503})
LEVELS = (0, 1)


def _is_transient(error: BaseException) -> bool:
    for_good = isinstance(error.__cause__, connect.NoSuchHost) or is_permanent(error)
    return isinstance(error, Unreachable) and not for_good


class Web:
    """A web client. `resolve` looks up a host's IP addresses."""

    def __init__(self, settings: Settings, *, resolve: connect.Resolve = connect.resolve) -> None:
        self._settings = settings
        self._backend = connect.GuardedBackend(resolve, settings.allow_hosts)
        store = Store(settings.home / "cache", settings.cache_mb * 1_000_000)
        self._robots = Robots(settings.user_agent, self._robots_txt, store)
        self._cache = HttpCache(store, settings.allow_hosts)
        #: The lowest fetch level to use, from 0 (plain requests) to 2 (a browser).
        self.min_level = 0
        self.cleaned = Cleaned(store)
        self._open = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self.hosts = await Hosts.open(self._settings.home)
        pool = connect.Pool(
            MAX_CONNECTIONS,
            ssl_context=await asyncio.to_thread(read_certificates),
            network_backend=self._backend,
            keepalive_expiry=KEEPALIVE_SECONDS,
        )
        self._pool = await self._open.enter_async_context(pool)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def fetch(self, url: str, *, seconds: float) -> Fetched:
        """Return the page at `url` after redirects, or a stale copy if its server is down. Raises
        NotAllowed, Blocked, TooLarge, Unreadable, Unreachable, or TooSlow after at most
        `seconds`.
        """
        url, attempts = check_url(url), list[Attempt]()
        try:
            async with asyncio.timeout(seconds) as limit:
                fetched = await self._fetch_or_fall_back(url, limit.when() or 0.0, attempts)
        except TimeoutError:
            late = TooSlow(f"{printable_url(url)} did not load within {seconds:.3g} s.")
            raise ended_in(late, attempts) from None
        except FetchError as error:
            raise ended_in(error, attempts) from error.__cause__
        return replace(fetched, attempts=tuple(attempts))

    def limited(self, most: int) -> Web:
        """Return a copy that limits pages to `most` bytes."""
        made, most = copy(self), min(most, self._settings.page_bytes)
        made._settings = self._settings.model_copy(update={"page_bytes": most})
        return made

    async def ask_permission(self, url: str, *, seconds: float) -> None:
        """Wait until robots.txt allows a request to `url`. Raises Blocked if `url` may not be
        requested, and TooSlow if the wait would exceed `seconds`.
        """
        self.hosts.check(url)
        if self._settings.robots:
            await self._robots.ask_permission(url, asyncio.get_running_loop().time() + seconds)

    async def holds(self, url: str) -> bool:
        """Return whether a fresh copy of a page is cached."""
        return await self._cache.holds(url, LEVELS)

    async def _fetch_or_fall_back(
        self, url: str, deadline: float, attempts: list[Attempt]
    ) -> Fetched:
        try:
            return await self._levels_up(url, deadline, attempts)
        except TooSoon:
            raise
        except (Unreachable, TooSlow):
            copy = await self._stand_in(url)
            if copy is None:
                raise
            level = min(1, self.hosts.level(urlsplit(url).netloc))
            attempts.append(Attempt(level=level, status=copy.status, cached=True))
            return copy.fetched(level)

    async def _stand_in(self, url: str) -> Answer | None:
        for _ in range(REDIRECTS + 1):
            copy = await self._cache.stale(url, LEVELS)
            target = next_url(copy) if copy else None
            if target is None:
                return copy
            url = target
        return None

    async def _levels_up(self, url: str, deadline: float, attempts: list[Attempt]) -> Fetched:
        ask = partial(self._attempt, url, deadline=deadline, attempts=attempts)
        host = urlsplit(url).netloc
        level = min(1, self.hosts.level(host) or self.min_level, self._settings.max_level)
        answer = await ask(level)
        later = answer.later if answer.status in LATER else None
        left = deadline - asyncio.get_running_loop().time()
        if later is not None and later <= min(SHORT_WAIT, left):
            await asyncio.sleep(later)
            answer = await ask(level)
        elif later is not None and not answer.from_cache:
            await self.hosts.later(answer.url, answer.status, later)
        elif answer.turned_away and level < min(1, self._settings.max_level):
            level = 1
            answer = await ask(level)
        answer.check()
        await self.hosts.gave(host, level)
        return answer.fetched(level)

    async def _attempt(
        self, url: str, level: int, *, deadline: float, attempts: list[Attempt]
    ) -> Answer:
        clock, sent = asyncio.get_running_loop().time, list[str]()
        made, began = Attempt(level=level), clock()
        try:
            answer = await self._visit(url, level, deadline, sent.append)
            size = 0 if answer.from_cache else len(answer.body)
            changes = {"status": answer.status, "bytes": size, "reason": answer.refusal}
            made = made.model_copy(update=changes | {"cached": not sent})
            return answer
        except FetchError as error:
            changes = {"status": error.status, "reason": str(error)}
            made = made.model_copy(update=changes)
            raise
        finally:
            seconds = round(clock() - began, 3) if sent else 0.0
            attempts.append(made.model_copy(update={"seconds": seconds}))

    async def _visit(
        self,
        url: str,
        level: int,
        deadline: float | None,
        note: Callable[[str], None] = lambda _: None,
    ) -> Answer:
        """Request a page, following redirects. Without a deadline, robots.txt is not checked."""
        cookies = httpx.Cookies()
        for _ in range(REDIRECTS + 1):
            headers = for_level(level, url, self._settings.user_agent, cookies)
            answer = await self._cache.ask(
                url, level, headers, partial(self._send, url, deadline, note)
            )
            if len(answer.body) > self._settings.page_bytes:  # cached when the limit was larger
                raise TooLarge(f"The page is larger than {self._settings.page_bytes:,} bytes.")
            target = next_url(answer)
            if target is None:
                return answer
            asked = httpx.Request("GET", url)
            response = httpx.Response(answer.status, headers=answer.headers, request=asked)
            cookies.extract_cookies(response)
            url = target
        raise Unreachable(f"{printable_url(url)} redirects more than {REDIRECTS} times.")

    async def _send(
        self, url: str, deadline: float | None, note: Callable[[str], None], headers: dict[str, str]
    ) -> Answer:
        self.hosts.check(url)
        note(url)
        if deadline and self._settings.robots:
            await self._robots.ask_permission(url, deadline)
        ask = partial(self._ask, url, headers)
        return await ask_again(ask, _is_transient, ATTEMPTS, first=0.2, jitter=0.2)

    async def _robots_txt(self, url: str) -> Answer:
        return await self._visit(url, 0, None)

    async def _ask(self, url: str, headers: dict[str, str]) -> Answer:
        """Send one request as soon as the host has a free slot."""
        limits = self._settings
        async with far_place(urlsplit(url).netloc, id(self), limits.parallel_per_host):
            answer = await exchange(self._pool, url, headers, limits.page_bytes)
        if answer.status in PASSING:
            answer.check()
        return answer

"""Remember each host's fetch level, refusals, requested pauses and robots.txt."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Self, cast
from urllib.parse import urljoin, urlsplit
from weakref import WeakValueDictionary

from protego import Protego
from pydantic import BaseModel, TypeAdapter, ValidationError

from spadework.errors import Blocked, FetchError, TooSlow
from spadework.tools.fetch.exchange import Answer
from spadework.tools.fetch.guard import printable_url
from spadework.tools.fetch.http_cache import Store
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.private_files import write_atomically
from spadework.tools.web.background_threads import aside
from spadework.tools.web.fair_queue import Opening, shared_place

LEVEL_SECONDS, REFUSED_SECONDS = 30 * 86_400.0, 86_400.0
#: Consecutive refusals after which a host that has served pages is blocked. Any other host is
#: blocked after one refusal.
REFUSALS = 3
#: Maximum seconds to wait before requesting from a host again, even if its Retry-After header asks
#: for more.
MOST_SECONDS = 86_400.0
#: Consecutive pages with status 503 after which a host counts as down.
OUT_OF_ORDER = 2
MOST_HOSTS = 2_000


class Host(BaseModel):
    """Everything known about one host or page. Times are Unix times."""

    level: int = 0
    level_until: float = 0.0
    blocked_until: float = 0.0
    refused_level: int = 0
    refused_until: float = 0.0

    @property
    def until(self) -> float:
        """The time when everything known about the host expires."""
        return max(self.level_until, self.blocked_until, self.refused_until)


_KNOWN = TypeAdapter(dict[str, Host])


class Hosts:
    """Stores data about hosts in a file that processes share."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._lock = threading.Lock()
        self._known: dict[str, Host] = {}
        #: The pages that each host has refused, and the pages that returned status 503, since the
        #: host last served a page.
        self._refused: defaultdict[str, set[str]] = defaultdict(set)
        self._out_of_order: defaultdict[str, set[str]] = defaultdict(set)
        self._given: set[str] = set()

    @classmethod
    async def open(cls, home: Path) -> Self:
        """Return a home folder's `Hosts`, shared by all sessions of the process."""
        path = home / "cache" / "hosts.json"
        hosts = _opened.setdefault(path, cls(path))
        await on_disk(hosts._read)
        return cast("Self", hosts)

    def level(self, host: str) -> int:
        """Return the fetch level that the host requires, or 0 if unknown."""
        known = self._known.get(host)
        return known.level if known and self._clock() < known.level_until else 0

    def check(self, url: str) -> None:
        """Raise Blocked if a pause requested for the page or its host is not over yet."""
        for name in (urlsplit(url).netloc, url):
            known = self._known.get(name)
            if known and self._clock() < known.blocked_until:
                until = _moment(known.blocked_until)
                error = Blocked(f"{printable_url(name)} asked spadework to wait until {until}.")
                error.final = False
                raise error

    def check_refusal(self, url: str, highest: int) -> None:
        """Raise Blocked if the host recently refused every fetch level up to `highest`."""
        host = urlsplit(url).netloc
        known = self._known.get(host)
        if known and self._clock() < known.refused_until and highest <= known.refused_level:
            until = _moment(known.refused_until)
            error = Blocked(f"{host} refused a page and will not be tried again before {until}.")
            error.final = False
            raise error

    async def gave(self, host: str, level: int) -> None:
        """Record the fetch level at which a host answered."""
        self._out_of_order.pop(host, None)
        if level > self.level(host):
            until = self._clock() + LEVEL_SECONDS
            await self._learn(host, level=level, level_until=until)

    async def let_in(self, host: str) -> None:
        """Record that the host served a page, and forget its refusals."""
        self._given.add(host)
        self._refused.pop(host, None)
        if (known := self._known.get(host)) and known.refused_until:
            await self._learn(host, refused_until=0.0)

    async def later(self, url: str, status: int, seconds: float) -> None:
        """Record that a server requested a pause. Status 429 pauses the host. Status 503 pauses
        only the page, or the host once OUT_OF_ORDER pages have returned it.
        """
        host, until = urlsplit(url).netloc, self._clock() + min(seconds, MOST_SECONDS)
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            self._out_of_order[host].add(url)
            await self._learn(url, blocked_until=until)
            if len(self._out_of_order[host]) < OUT_OF_ORDER:
                return
        await self._learn(host, blocked_until=until)

    async def refused(self, host: str, url: str, level: int) -> None:
        """Record that a host (not its subdomains) refused a page at fetch levels up to `level`."""
        self._refused[host].add(url)
        gives = host in self._given or self.level(host)
        if len(self._refused[host]) >= (REFUSALS if gives else 1):
            del self._refused[host]
            until = self._clock() + REFUSED_SECONDS
            await self._learn(host, refused_until=until, refused_level=level)

    async def _learn(self, name: str, **news: float) -> None:
        self._known[name] = self._known.get(name, Host()).model_copy(update=news)
        await asyncio.shield(on_disk(self._write, name))

    def _read(self) -> None:
        with self._lock, suppress(OSError, ValidationError):
            self._known = _KNOWN.validate_json(self._path.read_bytes()) | self._known

    def _write(self, name: str) -> None:
        with self._lock:
            found: dict[str, Host] = {}
            with suppress(OSError, ValidationError):
                found = _KNOWN.validate_json(self._path.read_bytes())
            found[name] = self._known[name]
            now = self._clock()
            lasting = sorted(found.items(), key=lambda each: -each[1].until)[:MOST_HOSTS]
            kept = {name: one.model_dump() for name, one in lasting if one.until > now}
            with suppress(OSError):
                write_atomically(self._path, json.dumps(kept).encode())


def _moment(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S} UTC"


_opened: WeakValueDictionary[Path, Hosts] = WeakValueDictionary()
#: Seconds to wait for a robots.txt. The wait delays all pages of the site.
ROBOTS_SECONDS = 5.0
#: Maximum bytes of a robots.txt. RFC 9309 (2.5) requires at least 500 KiB.
MAX_BYTES = 512_000
#: Seconds for which a stored robots.txt may be used by other runs. RFC 9309 (2.4) allows a day.
KEPT_SECONDS = 3_600.0
AGAIN_SECONDS = 60.0
LONGEST_DELAY = 86_400.0
_KIND = "robots"
_ALL_ALLOWED = Protego.parse("")
_FAILED = Protego.parse("User-agent: *\nDisallow: /")


class TooSoon(TooSlow):
    """The wait required by a site's crawl delay exceeds the remaining time."""


class Turns:
    """Tracks the next request time of each host with a crawl delay. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def clear(self) -> None:
        """Forget all reserved times."""
        with self._lock:
            self._next = {}

    def take(self, host: str, delay: float, until: float) -> float | None:
        """Reserve and return the host's next request time, or None if `until` comes first."""
        now = time.monotonic()
        with self._lock:
            self._next = {name: moment for name, moment in self._next.items() if moment > now}
            turn = max(now, self._next.get(host, 0.0))
            if turn >= until:
                return None
            if delay:
                self._next[host] = turn + delay
        return turn

    def give_back(self, host: str, delay: float, turn: float) -> None:
        """Give back an unused request time, unless a later one was reserved."""
        with self._lock:
            if self._next.get(host) == turn + delay:
                self._next[host] = turn


TURNS = Turns()


class Robots:
    """The robots.txt rules of each origin, cached in `store` for other runs."""

    def __init__(self, agent: str, get: Callable[[str], Awaitable[Answer]], store: Store) -> None:
        self._clock = time.monotonic
        self._store = store
        self._agent = agent.split("/")[0].strip()
        self._get = get
        self._rules: dict[str, tuple[Protego, float]] = {}
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask_permission(self, url: str, deadline: float) -> None:
        """Wait until the page may be fetched. Raises Blocked, or TooSoon if the wait would end
        after `deadline` (loop time).
        """
        rules, host = await self._rules_for(url), urlsplit(url).netloc
        if rules is _FAILED:
            raise Blocked(
                f"{host}/robots.txt returned a server error, so no page of this site may be read.",
                hint="Try again in a few minutes.",
            )
        if not rules.can_fetch(url, self._agent):
            raise Blocked(
                f"robots.txt does not allow reading {printable_url(url)}.",
                hint="If you own the site, set SPADEWORK_ROBOTS=false.",
            )
        delay = min(float(rules.crawl_delay(self._agent) or 0), LONGEST_DELAY)
        left = deadline - asyncio.get_running_loop().time()
        turn = TURNS.take(host, delay, time.monotonic() + left)
        if turn is None:
            raise _too_soon(host, delay)
        try:
            await asyncio.sleep(max(0.0, turn - time.monotonic()))
            if delay:
                await _among_all(host, delay, deadline)
        except asyncio.CancelledError:
            TURNS.give_back(host, delay, turn)
            raise

    async def _rules_for(self, url: str) -> Protego:
        origin = urlsplit(url)._replace(path="", query="").geturl()
        async with self._asking[origin]:
            rules, since = self._rules.get(origin, (_FAILED, -AGAIN_SECONDS))
            if rules is _FAILED and self._clock() >= since + AGAIN_SECONDS:
                rules = await self._load(urljoin(origin, "/robots.txt"))
                self._rules[origin] = rules, self._clock()
        return rules

    async def _load(self, url: str) -> Protego:
        if (kept := await asyncio.to_thread(self._store.get, _KIND, url)) is not None:
            at, _, body = kept.partition(b"\n")
            if 0 <= time.time() - float(at) < KEPT_SECONDS:
                return await aside(_parse_robots, body)
        try:
            async with asyncio.timeout(ROBOTS_SECONDS):
                answer = await self._get(url)
        except TimeoutError:
            return _ALL_ALLOWED
        except FetchError as error:  # status is 0 if there was no usable response
            return _FAILED if error.status in range(500, 600) else _ALL_ALLOWED
        if answer.status in range(500, 600):
            return _FAILED
        body = answer.body[:MAX_BYTES] if answer.status < 300 else b""
        await asyncio.to_thread(self._store.put, _KIND, url, b"%d\n%b" % (time.time(), body))
        return await aside(_parse_robots, body)


async def _among_all(host: str, delay: float, deadline: float) -> None:
    """Wait in a host's queue, shared by all machines. Raises TooSoon if it outlasts `deadline`."""
    clock = asyncio.get_running_loop().time

    def check(opening: Opening) -> None:
        if clock() + opening.opens > deadline:
            raise _too_soon(host, delay)

    place = shared_place(f"turns at {host}", lambda: 1, delay, check)
    try:
        async with asyncio.timeout_at(deadline), place:
            pass
    except TimeoutError:
        raise _too_soon(host, delay) from None


def _too_soon(host: str, delay: float) -> TooSoon:
    return TooSoon(
        f"{host} requires {delay:.3g} s between two pages, and there is not enough time left for"
        " all the waiting pages."
    )


def _parse_robots(body: bytes) -> Protego:
    return Protego.parse(body.decode("utf-8-sig", "replace"))

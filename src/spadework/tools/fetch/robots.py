"""robots.txt (RFC 9309): everything is allowed if there is none or it cannot be fetched soon;
nothing, for a while, after a 5xx (section 2.3.1.4), since there may be rules and the server is in
trouble.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from urllib.parse import urljoin, urlsplit

from protego import Protego

from spadework.errors import Blocked, FetchError, TooSlow
from spadework.tools.fetch.exchange import Answer
from spadework.tools.fetch.guard import printable_url
from spadework.tools.fetch.http_cache import Store
from spadework.tools.stores.shared_rooms import Opening, shared_place
from spadework.tools.web.background_threads import aside

#: Longest wait for a robots.txt, in seconds; the site's pages wait for it.
ROBOTS_SECONDS = 5.0
#: Maximum bytes read (the minimum of RFC 9309, 2.5).
MAX_BYTES = 512_000
#: Seconds a robots.txt is cached for other runs; RFC 9309, 2.4 allows a day.
KEPT_SECONDS = 3_600.0
#: Seconds until a failing server is asked for its robots.txt again.
AGAIN_SECONDS = 60.0
#: Longest delay between two pages, in seconds; it is added to dates.
LONGEST_DELAY = 86_400.0
_KIND = "robots"
_ALL_ALLOWED = Protego.parse("")
_FAILED = Protego.parse("User-agent: *\nDisallow: /")


class TooSoon(TooSlow):
    """The site's delay exceeds the time left."""


class Turns:
    """When hosts that want delays may be asked again, in any thread (`time.monotonic`)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def clear(self) -> None:
        """Drop all turns."""
        with self._lock:
            self._next = {}

    def take(self, host: str, delay: float, until: float) -> float | None:
        """Take the next turn at a host and return its time; None if not before `until`."""
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
        """Return an unused turn to the next caller, unless another was taken after it."""
        with self._lock:
            if self._next.get(host) == turn + delay:
                self._next[host] = turn


TURNS = Turns()


class Robots:
    """Rules by origin. `get` fetches a robots.txt; `store` caches it for other runs."""

    def __init__(self, agent: str, get: Callable[[str], Awaitable[Answer]], store: Store) -> None:
        self._clock = time.monotonic
        self._store = store
        self._agent = agent.split("/")[0].strip()
        self._get = get
        #: By origin, the rules and when they were fetched.
        self._rules: dict[str, tuple[Protego, float]] = {}
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask_permission(self, url: str, deadline: float) -> None:
        """Wait until a page may be fetched, respecting its site's delay. Raises Blocked, or TooSoon
        if that is after `deadline` (loop time).
        """
        rules, host = await self._rules_for(url), urlsplit(url).netloc
        if rules is _FAILED:
            raise Blocked(
                f"The server fails at {host}/robots.txt, so nothing of {host} may be read.",
                hint="Try again in some minutes.",
            )
        if not rules.can_fetch(url, self._agent):
            raise Blocked(
                f"robots.txt does not allow {printable_url(url)}.",
                hint="Set robots to false for sites you own.",
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
        except FetchError as error:  # status 0 if the response is unusable
            return _FAILED if error.status in range(500, 600) else _ALL_ALLOWED
        if answer.status in range(500, 600):
            return _FAILED
        body = answer.body[:MAX_BYTES] if answer.status < 300 else b""
        await asyncio.to_thread(self._store.put, _KIND, url, b"%d\n%b" % (time.time(), body))
        return await aside(_parse_robots, body)


async def _among_all(host: str, delay: float, deadline: float) -> None:
    """Wait for a turn shared with all machines. Raises TooSoon if it is after `deadline`."""
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
        f"{host} wants {delay:.3g} s between two pages, and more of them wait than there is time"
        " for."
    )


def _parse_robots(body: bytes) -> Protego:
    return Protego.parse(body.decode("utf-8-sig", "replace"))

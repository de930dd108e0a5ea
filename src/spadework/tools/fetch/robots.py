"""What robots.txt allows (RFC 9309): all, where there is none or it cannot be had soon; nothing for
a while after a 5xx (section 2.3.1.4): there may be rules, and the server is in trouble.
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

#: Longest wait for a robots.txt, in seconds; the pages of a site wait for it.
ROBOTS_SECONDS = 5.0
#: So much counts (RFC 9309, 2.5, asks for as much).
MAX_BYTES = 512_000
#: Seconds for which an answer is kept for other runs; RFC 9309, 2.4: a day at most.
KEPT_SECONDS = 3_600.0
#: Seconds after which a server that has failed is asked for its robots.txt again.
AGAIN_SECONDS = 60.0
#: The longest pause between two pages, in seconds: it is reckoned with as a date.
LONGEST_DELAY = 86_400.0
_KIND = "robots"
_ALL_ALLOWED = Protego.parse("")
_FAILED = Protego.parse("User-agent: *\nDisallow: /")


class TooSoon(TooSlow):
    """The site wants to be asked later than there is time for."""


class Turns:
    """When hosts that want pauses may be asked again, in any thread (`time.monotonic`)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._next: dict[str, float] = {}

    def clear(self) -> None:
        """Forget all turns."""
        with self._lock:
            self._next = {}

    def take(self, host: str, delay: float, until: float) -> float | None:
        """Take the next turn at a host; its moment, None where it is not before `until`."""
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
        """A turn is not needed; who comes next has it, unless somebody has come after it."""
        with self._lock:
            if self._next.get(host) == turn + delay:
                self._next[host] = turn


#: Those of this process.
TURNS = Turns()


class Robots:
    """The rules by origin. `get` fetches a robots.txt; `store` keeps it for other runs."""

    def __init__(self, agent: str, get: Callable[[str], Awaitable[Answer]], store: Store) -> None:
        self._clock = time.monotonic
        self._store = store
        self._agent = agent.split("/")[0].strip()
        self._get = get
        #: By origin what is allowed, and when it was learned.
        self._rules: dict[str, tuple[Protego, float]] = {}
        self._asking: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    async def ask_permission(self, url: str, deadline: float) -> None:
        """Return when a page may be fetched, maybe after its site's delay. Raises Blocked, or
        TooSoon when that is only after `deadline` (loop time).
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
        except FetchError as error:  # of status 0 where what came cannot be used
            return _FAILED if error.status in range(500, 600) else _ALL_ALLOWED
        if answer.status in range(500, 600):
            return _FAILED
        body = answer.body[:MAX_BYTES] if answer.status < 300 else b""
        await asyncio.to_thread(self._store.put, _KIND, url, b"%d\n%b" % (time.time(), body))
        return await aside(_parse_robots, body)


async def _among_all(host: str, delay: float, deadline: float) -> None:
    """Return at one's turn among all machines. Raises TooSoon if it is after `deadline`."""
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

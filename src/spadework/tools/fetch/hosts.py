"""What hosts expect, remembered until it expires: the level they need, that they have refused, and
until when they or one of their pages want no requests.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import Self, cast
from urllib.parse import urlsplit
from weakref import WeakValueDictionary

from pydantic import BaseModel, TypeAdapter, ValidationError

from spadework.errors import Blocked
from spadework.tools.fetch.guard import printable_url
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.page_store import write_atomically

#: How long a level and a refusal count, and refusals in a row needed from a host that has given
#: pages.
LEVEL_SECONDS, REFUSED_SECONDS, REFUSALS = 30 * 86_400.0, 86_400.0, 3
#: Longest wait a host can set, so that one wrong header does not silence it.
MOST_SECONDS = 86_400.0
#: Consecutive pages with status 503 until the whole host counts as down.
OUT_OF_ORDER = 2
#: Maximum hosts and pages remembered; those that expire first are dropped.
MOST_HOSTS = 2_000


class Host(BaseModel):
    """What is known about one host or page; dates are Unix times."""

    level: int = 0
    level_until: float = 0.0
    blocked_until: float = 0.0
    refused_level: int = 0
    refused_until: float = 0.0

    @property
    def until(self) -> float:
        """When everything here has expired."""
        return max(self.level_until, self.blocked_until, self.refused_until)


_KNOWN = TypeAdapter(dict[str, Host])


class Hosts:
    """The hosts in the file at `path`, shared by several processes. `clock` returns Unix time. A
    damaged or read-only file is ignored: its content is learned again.
    """

    def __init__(self, path: Path, clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock
        self._lock = threading.Lock()
        self._known: dict[str, Host] = {}
        #: By host, the pages refused and those with 503 since it last gave one.
        self._refused: defaultdict[str, set[str]] = defaultdict(set)
        self._out_of_order: defaultdict[str, set[str]] = defaultdict(set)
        self._given: set[str] = set()

    @classmethod
    async def open(cls, home: Path) -> Self:
        """Return the hosts of a home, shared by all sessions of the process."""
        path = home / "cache" / "hosts.json"
        hosts = _opened.setdefault(path, cls(path))
        await on_disk(hosts._read)
        return cast("Self", hosts)

    def level(self, host: str) -> int:
        """Return the level at which it gave its last page, 0 if unknown."""
        known = self._known.get(host)
        return known.level if known and self._clock() < known.level_until else 0

    def check(self, url: str) -> None:
        """Raise Blocked while a page or its host wants to be left alone."""
        for name in (urlsplit(url).netloc, url):
            known = self._known.get(name)
            if known and self._clock() < known.blocked_until:
                until = _moment(known.blocked_until)
                error = Blocked(f"{printable_url(name)} wants to be left alone until {until}.")
                error.final = False
                raise error

    def check_refusal(self, url: str, highest: int) -> None:
        """Raise Blocked if its host has refused every level up to `highest` within the last day."""
        host = urlsplit(url).netloc
        known = self._known.get(host)
        if known and self._clock() < known.refused_until and highest <= known.refused_level:
            until = _moment(known.refused_until)
            error = Blocked(f"{host} has refused to be read, and is asked again after {until}.")
            error.final = False
            raise error

    async def gave(self, host: str, level: int) -> None:
        """Record that the host answered at a level, whether with the page or a wall."""
        self._out_of_order.pop(host, None)
        if level > self.level(host):
            until = self._clock() + LEVEL_SECONDS
            await self._learn(host, level=level, level_until=until)

    async def let_in(self, host: str) -> None:
        """Record that the host gave the requested page."""
        self._given.add(host)
        self._refused.pop(host, None)
        if (known := self._known.get(host)) and known.refused_until:
            await self._learn(host, refused_until=0.0)

    async def later(self, url: str, status: int, seconds: float) -> None:
        """Record a time to come back. A 429 counts for the host; a 503 may concern only this page
        until other pages return it too.
        """
        host, until = urlsplit(url).netloc, self._clock() + min(seconds, MOST_SECONDS)
        if status == HTTPStatus.SERVICE_UNAVAILABLE:
            self._out_of_order[host].add(url)
            await self._learn(url, blocked_until=until)
            if len(self._out_of_order[host]) < OUT_OF_ORDER:
                return
        await self._learn(host, blocked_until=until)

    async def refused(self, host: str, url: str, level: int) -> None:
        """Record a refusal at every level up to this one. Subdomains are separate hosts."""
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
        """Add one host or page to what other processes have written."""
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

"""Search with several providers within rate limits, skipping those that fail. All processes share
a cache in a SQLite file.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from spadework.errors import QuotaSpent, SearchError, Throttled
from spadework.settings import Settings
from spadework.tools.ranking.query_operators import freshness_of
from spadework.tools.search.provider import Closing, Placed, Provider
from spadework.tools.search.rate_limiter import RATE_LIMITERS, RateLimiters, Waits, limit_of
from spadework.tools.search.result_rows import Unmet, fits
from spadework.tools.stores.private_files import private_file, private_folder
from spadework.tools.web.connections import install_resolver
from spadework.values import Freshness, Hit, Query

T = TypeVar("T")
#: Hours to cache results of queries about recent topics, and minutes to cache results of queries
#: about current events. Empty results of any query are cached for at most NOW_MINUTES.
RECENT_HOURS, NOW_MINUTES = 12, 15
BUSY_SECONDS = 3.0
#: Days to cache results of queries that require no freshness, and maximum size of the cache file in
#: bytes.
KEPT_DAYS, MOST_BYTES = 7, 50_000_000
#: If the cache file becomes too large, the oldest results are deleted and this fraction of the
#: results is kept.
SWEPT_TO = 0.8
_HITS: TypeAdapter[list[Hit]] = TypeAdapter(list[Hit])
_SCHEMA = """
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, hits TEXT NOT NULL, at REAL NOT NULL, until REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS by_age ON results (at);
CREATE INDEX IF NOT EXISTS by_end ON results (until);
"""
_SIZE = (
    "SELECT (SELECT count(*) FROM results), (page_count - freelist_count) * page_size"
    " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)


class SearchCache:
    """A cache of hits by provider and query. `most_bytes` limits the size of its file (0 disables
    the cache). `keep` maps a query's freshness to a lifetime in seconds. `scope` separates
    providers with the same name, such as two SearXNG servers.
    """

    def __init__(
        self,
        path: Path,
        most_bytes: int,
        keep: dict[Freshness, float],
        scope: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._most = most_bytes
        self._keep = keep
        self._scope = scope
        self._clock = clock
        self._lock = threading.Lock()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the cache in the home folder named in the settings."""
        keep: dict[Freshness, float] = {
            "any": KEPT_DAYS * 86_400,
            "recent": RECENT_HOURS * 3_600,
            "now": NOW_MINUTES * 60,
        }
        mcp = settings.mcp_search.get_secret_value() if settings.mcp_search else ""
        scope = hashlib.sha256(f"{settings.searxng_url}\n{mcp}".encode()).hexdigest()
        path = settings.home / "cache" / "searches.sqlite"
        return cls(path, MOST_BYTES if settings.cache_mb else 0, keep, scope)

    async def get(self, provider: str, query: Query, limit: int) -> list[Hit] | None:
        """Return the provider's hits for the query, or None if they are uncached or expired."""
        key = self._key(provider, query, limit)
        if not self._most:
            return None
        text = await asyncio.to_thread(self._on_file, lambda db: self._read(db, key))
        try:
            return None if text is None else _HITS.validate_json(text)
        except ValidationError:  # stored by another version of spadework
            return None

    async def put(self, provider: str, query: Query, limit: int, hits: list[Hit]) -> None:
        """Cache the hits. An empty list expires after NOW_MINUTES."""
        seconds = min(self._keep[freshness_of(query)], self._keep["any" if hits else "now"])
        if not self._most or not seconds:
            return
        now, key = self._clock(), self._key(provider, query, limit)
        row = (key, _HITS.dump_json(hits).decode(), now, now + seconds)
        await asyncio.to_thread(self._on_file, lambda db: self._write(db, row))

    def _key(self, provider: str, query: Query, limit: int) -> str:
        asked = query.model_dump(mode="json", exclude={"kind", "results", "seconds"})
        asked["freshness"] = freshness_of(query)
        subject = json.dumps([self._scope, provider, limit, asked], sort_keys=True)
        return hashlib.sha256(subject.encode()).hexdigest()

    def _on_file(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        with self._lock:
            try:
                return self._opened(work)
            except sqlite3.OperationalError:  # locked too long, read-only, or disk full
                return None
            except sqlite3.DatabaseError:
                for end in ("", "-wal", "-shm"):
                    with suppress(OSError):
                        self._path.with_name(self._path.name + end).unlink(missing_ok=True)
                return None
            except OSError:
                return None

    def _opened(self, work: Callable[[sqlite3.Connection], T]) -> T:
        private_folder(self._path.parent)
        private_file(self._path)
        with closing(sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None)) as db:
            if db.execute("PRAGMA user_version").fetchone() == (0,):
                # auto_vacuum frees disk space, and must be set before the first table exists.
                db.executescript(
                    f"PRAGMA auto_vacuum = FULL; PRAGMA journal_mode = WAL; {_SCHEMA} PRAGMA"
                    " user_version = 1;"
                )
            db.execute("PRAGMA synchronous = NORMAL")
            return work(db)

    def _read(self, db: sqlite3.Connection, key: str) -> str | None:
        row = db.execute(
            "SELECT hits FROM results WHERE key = ? AND until > ? AND at <= ?",
            (key, self._clock(), self._clock()),
        ).fetchone()
        return None if row is None else str(row[0])

    def _write(self, db: sqlite3.Connection, row: tuple[str, str, float, float]) -> None:
        if len(row[1]) > self._most * SWEPT_TO:
            return
        db.execute("INSERT OR REPLACE INTO results (key, hits, at, until) VALUES (?, ?, ?, ?)", row)
        db.execute("DELETE FROM results WHERE until <= ?", (row[2],))
        oldest = "DELETE FROM results WHERE key IN (SELECT key FROM results ORDER BY at LIMIT ?)"
        while True:
            kept, size = db.execute(_SIZE).fetchone()
            if size <= self._most or kept <= 1:
                break
            db.execute(oldest, (max(1, int(kept * (1 - SWEPT_TO))),))


#: Number of consecutive failures after which a provider is skipped for PAUSE_SECONDS.
FAILURES = 3
PAUSE_SECONDS = 60.0
#: Seconds after a provider's deadline at which a search is cancelled.
GRACE_SECONDS = 1.0
CLOSING_SECONDS = 10.0


@dataclass
class _Breaker:
    failures: int = 0
    until: float = 0.0


@dataclass(frozen=True)
class Manners:
    """The rate limits and cache of a `Search`. `kept` names the providers whose results are cached.
    `asks` is the maximum number of attempts when a provider is busy.
    """

    limiters: RateLimiters = RATE_LIMITERS
    limits: Mapping[str, tuple[float, int]] = field(default_factory=lambda: MappingProxyType({}))
    cache: SearchCache | None = None
    kept: frozenset[str] = frozenset()
    asks: int = 3


class Search:
    """The search providers of a run, and their state. `clock` returns a time in seconds."""

    def __init__(
        self,
        providers: Sequence[Provider],
        manners: Manners | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.providers = tuple(providers)
        self.waits = Waits()
        self.unmet = Unmet()
        self._manners = manners or Manners()
        self._clock = clock
        self._breakers: defaultdict[str, _Breaker] = defaultdict(_Breaker)

    async def find_cached(
        self, provider: Provider, query: Query, *, limit: int
    ) -> list[Hit] | None:
        """Return the query's cached hits without charging the budget, or None if there are none."""
        self.unmet.add(provider, query)
        cache = self._manners.cache if provider.name in self._manners.kept else None
        return await cache.get(provider.name, query, limit) if cache else None

    async def ask(
        self,
        provider: Provider,
        query: Query,
        *,
        limit: int,
        seconds: float,
        charge: Callable[[], None] = lambda: None,
    ) -> list[Hit]:
        """Return a provider's hits. `charge` is called before each attempt. The caller records the
        hits and then passes them to `keep`. Raises SearchError, or Throttled if the rate limit
        leaves no time.
        """
        if seconds <= 0:
            raise SearchError(f"{provider.name} was not queried because there was no time left.")
        if self._clock() < self._breakers[provider.name].until:
            raise SearchError(
                f"{provider.name} is skipped for {PAUSE_SECONDS:g} s after {FAILURES} failures in"
                " a row."
            )
        asked = partial(self._ask, provider, query, limit, charge)
        found = await self._in_turn(provider, asked, seconds)
        return [hit for hit in found if fits(query, hit)]

    async def keep(
        self, provider: Provider, query: Query, hits: Sequence[Hit], *, limit: int
    ) -> None:
        """Cache a query's hits for later sessions."""
        if self._manners.cache and provider.name in self._manners.kept:
            await self._manners.cache.put(provider.name, query, limit, [*hits])

    async def replay(
        self, provider: Provider, query: Query, *, limit: int, seconds: float
    ) -> list[Hit]:
        """Return the hits in recorded responses, ignoring rate limits. Raises SearchError."""
        self.unmet.add(provider, query)
        found = await provider.search(query, limit=limit, seconds=seconds)
        return [hit for hit in found if fits(query, hit)]

    async def close(self) -> None:
        """Close all providers, even after errors or cancellation."""
        ending = asyncio.gather(
            *(provider.close() for provider in self.providers if isinstance(provider, Closing)),
            return_exceptions=True,
        )
        try:
            await asyncio.shield(ending)
        finally:
            await asyncio.wait({ending}, timeout=CLOSING_SECONDS)
        for failed in ending.result():
            if failed is not None:
                raise failed

    async def _in_turn(
        self, provider: Provider, asked: Callable[[float], Awaitable[list[Hit]]], seconds: float
    ) -> list[Hit]:
        """Wait for a turn and search. After QuotaSpent, retry while time and attempts remain."""
        name, until, refusals = provider.name, self._clock() + seconds, list[QuotaSpent]()
        # The name of the queue that several machines share, or "" if only this machine uses the
        # provider.
        where = provider.where if isinstance(provider, Placed) else name
        common = where and f"search at {where}"
        rate = limit_of(name, self._manners.limits)
        if rate is None:
            return await asked(seconds)
        limiter = self._manners.limiters.of(name)
        while True:
            try:
                left = until - self._clock()
                async with limiter.turn(rate, left, common) as waited:
                    self.waits.add(name, waited)
                    with limiter.respect_limits():
                        return await asked(_rest(seconds, waited, until - self._clock()))
            except Throttled as error:
                if refusals:
                    raise refusals[-1] from None
                self.waits.turn_away(name)
                raise Throttled(f"{name} was not queried: {error}.") from None
            except QuotaSpent as error:
                refusals.append(error)
                most, after = (self._manners.asks, 0.0) if error.busy else (2, math.inf)
                after = after if error.retry_after is None else error.retry_after
                if len(refusals) >= most or after >= until - self._clock():
                    raise

    async def _ask(
        self,
        provider: Provider,
        query: Query,
        limit: int,
        charge: Callable[[], None],
        seconds: float,
    ) -> list[Hit]:
        breaker = self._breakers[provider.name]
        charge()
        install_resolver()
        try:
            async with asyncio.timeout(seconds + GRACE_SECONDS):
                hits = await provider.search(query, limit=limit, seconds=seconds)
        except TimeoutError:
            self._failed(breaker)
            raise SearchError(f"{provider.name} did not answer within {seconds:g} s.") from None
        except SearchError as error:
            # Do not count a busy provider's refusal as a failure, because the search is retried.
            waited_for = isinstance(error, QuotaSpent) and (
                error.busy or error.retry_after is not None
            )
            if not waited_for:
                self._failed(breaker)
            raise
        self._breakers[provider.name] = _Breaker()
        return hits

    def _failed(self, breaker: _Breaker) -> None:
        breaker.failures += 1
        if breaker.failures >= FAILURES:
            breaker.until = self._clock() + PAUSE_SECONDS


def _rest(seconds: float, waited: float, left: float) -> float:
    return seconds if waited < 0.05 else max(0.1, round(left, 1))

"""Cache hits for all sessions and processes in one SQLite file. A damaged file stops no search."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Self, TypeVar

from pydantic import TypeAdapter, ValidationError

from spadework.settings import Settings
from spadework.tools.ranking.query_operators import freshness_of
from spadework.tools.stores.private_files import private_file, private_folder
from spadework.values import Freshness, Hit, Query

T = TypeVar("T")
#: Hours to keep results on recent topics, and minutes for empty results and current events.
RECENT_HOURS, NOW_MINUTES = 12, 15
BUSY_SECONDS = 3.0
#: Days to keep other results, and maximum bytes on disk.
KEPT_DAYS, MOST_BYTES = 7, 50_000_000
#: Fraction of the limit to which an oversized file is pruned, oldest results first.
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
    """Hits by provider and query, in a file of at most `most_bytes` (0 disables it).
    `keep` holds lifetimes in seconds. `scope` separates providers of one name, such as two SearXNG
    servers. Keys are hashes without API keys.
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
        """Return the cache in `cache/searches.sqlite` under the settings' home."""
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
        """Return the provider's hits for the query, or None if missing or expired."""
        key = self._key(provider, query, limit)
        if not self._most:
            return None
        text = await asyncio.to_thread(self._on_file, lambda db: self._read(db, key))
        try:
            return None if text is None else _HITS.validate_json(text)
        except ValidationError:  # another version wrote it
            return None

    async def put(self, provider: str, query: Query, limit: int, hits: list[Hit]) -> None:
        """Cache hits. An empty list expires as soon as results on current events."""
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
        """Return the result of `work` on the database, or None if the file cannot be used.
        A file that is not a database is deleted.
        """
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
                # Returns freed pages to the disk. Must be set before the first table exists.
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

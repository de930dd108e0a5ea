"""An HTTP cache (RFC 9111), and the disk store that caches share."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import threading
import time
import uuid
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import formatdate
from pathlib import Path
from typing import Self

import hishel
import httpx
import zstandard

from spadework.tools.fetch.exchange import Answer
from spadework.tools.stores.private_files import write_atomically
from spadework.tools.web.connections import http_date

#: When the store exceeds its size limit, it is pruned to this fraction of the limit.
SWEPT_TO = 0.9
#: The store's size is checked each time this fraction of the size limit has been written.
SWEEP_EVERY = 0.05
#: The maximum size of a stored entry, as a fraction of the size limit.
LARGEST = 0.1


class Store:
    """Blocking storage for compressed files, up to `most_bytes` in total (0 stores none)."""

    def __init__(self, folder: Path, most_bytes: int) -> None:
        self._folder = folder
        self._most = most_bytes
        self._unswept = float(most_bytes)
        self._lock = threading.Lock()

    def get(self, kind: str, key: str) -> bytes | None:
        """Return the entry stored under the key, or None."""
        path = self._path(kind, key)
        if not self._most:
            return None
        try:
            data = zstandard.decompress(path.read_bytes())
            os.utime(path)
        except (OSError, MemoryError, zstandard.ZstdError):
            return None
        return data

    def put(self, kind: str, key: str, data: bytes) -> None:
        """Store `data`, replacing the entry under the key."""
        if not self._most:
            return
        packed = zstandard.ZstdCompressor(level=1, write_checksum=True).compress(data)
        if len(packed) > LARGEST * self._most:
            self.drop(kind, key)
            return
        with suppress(OSError):  # on a full or read-only disk, go on without a cache
            write_atomically(self._path(kind, key), packed)
            self._sweep_sometimes(len(packed))

    def drop(self, kind: str, key: str) -> None:
        """Delete the entry under the key."""
        with suppress(OSError):
            if self._most:
                self._path(kind, key).unlink(missing_ok=True)

    def _path(self, kind: str, key: str) -> Path:
        name = hashlib.sha256(key.encode()).hexdigest()
        return self._folder / kind / name[:2] / name[2:]

    def _sweep_sometimes(self, written: int) -> None:
        with self._lock:
            self._unswept += written
            if self._unswept < SWEEP_EVERY * self._most:
                return
            self._unswept = 0
        self._sweep()

    def _sweep(self) -> None:
        found = []
        for path in self._folder.glob("*/*/*"):
            with suppress(OSError):  # another process may have removed the file
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in found)
        most = SWEPT_TO * self._most if total > self._most else total
        for _, size, path in sorted(found, key=lambda entry: entry[0]):
            if total <= most:
                return
            with suppress(OSError):
                path.unlink(missing_ok=True)
            total -= size


Send = Callable[[dict[str, str]], Awaitable[Answer]]
#: Maximum age in seconds of a stale copy that may be used, unless the response sets stale-if-error.
STALE_SECONDS = 7 * 86_400
#: Statuses that are cached: pages and permanent redirects.
_KEPT = frozenset({200, 203, 301, 308})
_GONE = frozenset({404, 410})
_KIND = "http"
_RULES: hishel.CacheOptions = {"shared": False, "supported_methods": ["GET"]}
_PRECONDITIONS = ("if-none-match", "if-modified-since")
#: Request headers that make a response personal and so uncacheable.
_PERSONAL = frozenset({"cookie", "authorization", "proxy-authorization"})
#: Headers that are not stored: cookies, and headers about the transfer.
_DROPPED = frozenset(
    (
        *("set-cookie", "set-cookie2", "content-encoding", "content-length", "transfer-encoding"),
        *("connection", "keep-alive"),
    )
)
_STALE_IF_ERROR, _MAX_AGE = (
    re.compile(rf"(?<![\w-]){name}\s*=\s*\"?(\d{{1,9}})", re.IGNORECASE)
    for name in ("stale-if-error", "max-age")
)


@dataclass(frozen=True)
class _Copy:
    """A stored response, and the headers of its request with lower-case names."""

    answer: Answer
    asked: dict[str, str]

    @property
    def entry(self) -> hishel.Entry:
        request = _request_of(self.answer.url, self.asked)
        return hishel.Entry(uuid.uuid4(), request, _response_of(self.answer))

    def suits(self, headers: Mapping[str, str]) -> bool:
        names = [name.strip().lower() for name in self.answer.headers.get("vary", "").split(",")]
        return "*" not in names and all(self.asked.get(name) == headers.get(name) for name in names)

    def dump(self) -> bytes:
        status, headers = self.answer.status, self.answer.headers.multi_items()
        head = {"status": status, "headers": headers, "asked": self.asked}
        return json.dumps(head).encode() + b"\n" + self.answer.body

    @classmethod
    def load(cls, url: str, data: bytes) -> Self | None:
        head, _, body = data.partition(b"\n")
        try:
            known = json.loads(head)
            headers = httpx.Headers([(name, value) for name, value in known["headers"]])
            answer = Answer(url, int(known["status"]), headers, body, from_cache=True)
            return cls(answer, dict(known["asked"]))
        except (ValueError, KeyError, TypeError):
            return None


class HttpCache:
    """A private HTTP cache. Clients with different `allow_hosts` do not share entries."""

    def __init__(self, store: Store, allow_hosts: Collection[str] = ()) -> None:
        self._store = store
        self._visitor = ",".join(sorted({host.lower() for host in allow_hosts}))

    async def ask(self, url: str, level: int, headers: dict[str, str], send: Send) -> Answer:
        """Return a fresh cached copy, or call `send` and cache its response."""
        asked = {name.lower(): value for name, value in headers.items()}
        if asked.keys() & _PERSONAL:
            return await send(headers)
        copy = await self._load(url, level)
        usable = [copy] if copy and copy.suits(asked) else []
        entries = [one.entry for one in usable]
        state = hishel.IdleClient(options=_RULES).next(_request_of(url, asked), entries)
        if isinstance(state, hishel.FromCache):
            return usable[0].answer
        answer = await send(headers | _preconditions(state))
        outcome = _keep_state(state.next(_response_of(answer)))
        # If a 304 response is not about the stored copy, send the request again without conditional
        # headers.
        if isinstance(outcome, hishel.CacheMiss):
            answer = await send(headers)
            outcome = _keep_state(outcome.next(_response_of(answer)))
        if isinstance(outcome, hishel.NeedToBeUpdated):
            known = outcome.updating_entries[-1].response.headers
            dated = {"date": _stored_headers(answer.headers)["date"]}
            renewed = httpx.Headers({name: known[name] for name in known} | dated)
            answer = replace(usable[0].answer, headers=renewed)
        may = not isinstance(outcome, hishel.CouldNotBeStored)
        await self._keep(_Copy(answer, asked), level, may=may)
        return answer

    async def stale(self, url: str, levels: Collection[int]) -> Answer | None:
        """Return a stale copy of an unreachable page, or None if no copy may be used."""
        for level in levels:
            copy = await self._load(url, level)
            # Compute the copy's age from its Date header, because a 304 response renews that
            # header.
            dated = copy.answer.dated if copy else None
            if copy is None or dated is None or time.time() - dated.timestamp() > _longest(copy):
                continue
            client = hishel.IdleClient(options=_RULES | {"allow_stale": True})
            state = client.next(_request_of(url, copy.asked), [copy.entry])
            if isinstance(state, hishel.FromCache):
                return replace(copy.answer, stale=True)
        return None

    async def holds(self, url: str, levels: Collection[int]) -> bool:
        """Return whether a fresh copy of a page is cached at one of the fetch levels."""
        for level in levels:
            if copy := await self._load(url, level):
                state = hishel.IdleClient(options=_RULES).next(
                    _request_of(url, copy.asked), [copy.entry]
                )
                if isinstance(state, hishel.FromCache):
                    return True
        return False

    def _key(self, url: str, level: int) -> str:
        return f"{self._visitor} {level} {url}"

    async def _load(self, url: str, level: int) -> _Copy | None:
        data = await asyncio.to_thread(self._store.get, _KIND, self._key(url, level))
        return _Copy.load(url, data) if data else None

    async def _keep(self, copy: _Copy, level: int, *, may: bool) -> None:
        answer, key = copy.answer, self._key(copy.answer.url, level)
        personal = answer.status >= 300 and "set-cookie" in answer.headers
        if may and answer.status in _KEPT and not personal:
            kept = replace(copy, answer=replace(answer, headers=_stored_headers(answer.headers)))
            await asyncio.to_thread(self._store.put, _KIND, key, kept.dump())
        elif answer.status in _KEPT | _GONE:
            await asyncio.to_thread(self._store.drop, _KIND, key)


def _request_of(url: str, headers: Mapping[str, str]) -> hishel.Request:
    return hishel.Request("GET", url, hishel.Headers(dict(headers)))


def _response_of(answer: Answer) -> hishel.Response:
    headers = {name: answer.headers.get_list(name) for name in answer.headers}
    return hishel.Response(answer.status, hishel.Headers(headers))


def _preconditions(state: hishel.CacheMiss | hishel.NeedRevalidation) -> dict[str, str]:
    if not isinstance(state, hishel.NeedRevalidation):
        return {}
    headers = state.request.headers
    found = {name: headers[name] for name in _PRECONDITIONS if name in headers}
    return found if all(value.isascii() for value in found.values()) else {}


def _keep_state(state: hishel.AnyState | None) -> hishel.AnyState | None:
    """Return `state`, or the first state after it that does not invalidate old entries. They need
    no invalidation, because storing the new copy overwrites them.
    """
    while isinstance(state, hishel.InvalidateEntries):
        state = state.next_state
    return state


def _stored_headers(headers: httpx.Headers) -> httpx.Headers:
    """Return the headers to store. A missing or future Date becomes now, so the copy can expire."""
    kept = [
        (name, value)
        for name, value in headers.multi_items()
        if name.lower() not in _DROPPED | {"date"} and value.isascii()
    ]
    day = headers.get("date", "")
    dated = http_date(day)
    fits = dated is not None and dated.timestamp() <= time.time()
    return httpx.Headers([*kept, ("date", day if fits else formatdate(usegmt=True))])


def _longest(copy: _Copy) -> float:
    """Return the maximum age in seconds at which a stale copy may be used (RFC 5861, section 4)."""
    rules = copy.answer.headers.get("cache-control", "")
    given = _STALE_IF_ERROR.search(rules)
    if not given:
        return STALE_SECONDS
    fresh = _MAX_AGE.search(rules)
    return float(given[1]) + (float(fresh[1]) if fresh else 0.0)

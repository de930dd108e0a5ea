"""Answers of servers kept by the rules of HTTP (RFC 9111): used while they are fresh, checked with
the server when they are not.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Collection
from dataclasses import replace
from email.utils import formatdate

import hishel
import httpx

from spadework.tools.fetch.byte_store import Store
from spadework.tools.fetch.cached_responses import Copy, request_of, response_of
from spadework.tools.fetch.exchange import Answer

Send = Callable[[dict[str, str]], Awaitable[Answer]]

#: Without a word of the server (stale-if-error), a copy may stand in for a page that cannot be had
#: up to this age, in seconds.
STALE_SECONDS = 7 * 86_400

#: What is kept: pages, and where they have moved for good. Anything else is asked for again.
_KEPT = frozenset({200, 203, 301, 308})
#: After these a copy is of no use any more.
_GONE = frozenset({404, 410})

_KIND = "http"
_RULES: hishel.CacheOptions = {"shared": False, "supported_methods": ["GET"]}
_PRECONDITIONS = ("if-none-match", "if-modified-since")
#: With one of these in the request, the answer is for one visitor in one moment.
_PERSONAL = frozenset({"cookie", "authorization", "proxy-authorization"})
#: Not kept of an answer's headers: secrets, and what is true only of the bytes on the wire.
_DROPPED = frozenset(
    {
        "set-cookie",
        "set-cookie2",
        "content-encoding",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
    }
)
_STALE_IF_ERROR, _MAX_AGE = (
    re.compile(rf"(?<![\w-]){name}\s*=\s*\"?(\d{{1,9}})", re.IGNORECASE)
    for name in ("stale-if-error", "max-age")
)


class HttpCache:
    """The private cache of the one who runs spadework. Whoever may visit other hosts
    (`allow_hosts`) has one of his own.
    """

    def __init__(self, store: Store, allow_hosts: Collection[str] = ()) -> None:
        self._store = store
        self._visitor = ",".join(sorted({host.lower() for host in allow_hosts}))

    async def ask(self, url: str, level: int, headers: dict[str, str], send: Send) -> Answer:
        """The answer to a request: a fresh copy, or what `send` brings from the server, kept if it
        may be.

        Answers to a request with cookies are neither kept nor taken from here. Raises what `send`
        raises.
        """
        asked = {name.lower(): value for name, value in headers.items()}
        if asked.keys() & _PERSONAL:
            return await send(headers)
        copy = await self._load(url, level)
        usable = [copy] if copy and copy.suits(asked) else []
        state = hishel.IdleClient(options=_RULES).next(
            request_of(url, asked), [one.entry for one in usable]
        )
        if isinstance(state, hishel.FromCache):
            return usable[0].answer
        answer = await send(headers | _preconditions(state))
        outcome = _keep_state(state.next(response_of(answer)))
        # "not modified" of something else than the copy that is here.
        if isinstance(outcome, hishel.CacheMiss):
            answer = await send(headers)
            outcome = _keep_state(outcome.next(response_of(answer)))
        if isinstance(outcome, hishel.NeedToBeUpdated):
            known = outcome.updating_entries[-1].response.headers
            dated = {"date": _lasting(answer.headers)["date"]}
            answer = replace(
                usable[0].answer,
                headers=httpx.Headers({name: known[name] for name in known} | dated),
            )
        await self._keep(
            Copy(answer, asked), level, may=not isinstance(outcome, hishel.CouldNotBeStored)
        )
        return answer

    async def stale(self, url: str, levels: Collection[int]) -> Answer | None:
        """The copy of a page whose server cannot be reached, marked as stale; None where there is
        none or its rules forbid it.
        """
        for level in levels:
            copy = await self._load(url, level)
            if copy is None or _age(copy.answer) > _longest(copy.answer):
                continue
            state = hishel.IdleClient(options=_RULES | {"allow_stale": True}).next(
                request_of(url, copy.asked), [copy.entry]
            )
            if isinstance(state, hishel.FromCache):
                return replace(copy.answer, stale=True)
        return None

    def _key(self, url: str, level: int) -> str:
        return f"{self._visitor} {level} {url}"

    async def _load(self, url: str, level: int) -> Copy | None:
        data = await asyncio.to_thread(self._store.get, _KIND, self._key(url, level))
        return Copy.load(url, data) if data else None

    async def _keep(self, copy: Copy, level: int, *, may: bool) -> None:
        """Keep an answer, if it may be kept; forget what it has replaced or shown to be gone."""
        answer, key = copy.answer, self._key(copy.answer.url, level)
        if (
            may
            and answer.status in _KEPT
            and not (answer.status >= 300 and "set-cookie" in answer.headers)
        ):
            kept = replace(copy, answer=replace(answer, headers=_lasting(answer.headers)))
            await asyncio.to_thread(self._store.put, _KIND, key, kept.dump())
        elif answer.status in _KEPT | _GONE:
            await asyncio.to_thread(self._store.drop, _KIND, key)


def _preconditions(state: hishel.CacheMiss | hishel.NeedRevalidation) -> dict[str, str]:
    """The headers that ask only for what has changed; none where the server's own words do not fit
    into a header.
    """
    if not isinstance(state, hishel.NeedRevalidation):
        return {}
    headers = state.request.headers
    found = {name: headers[name] for name in _PRECONDITIONS if name in headers}
    return found if all(value.isascii() for value in found.values()) else {}


def _keep_state(state: hishel.AnyState | None) -> hishel.AnyState | None:
    """The state behind the removal of old entries: here a copy is replaced by the next."""
    while isinstance(state, hishel.InvalidateEntries):
        state = state.next_state
    return state


def _lasting(headers: httpx.Headers) -> httpx.Headers:
    """The headers to keep, with the day they came: a copy without it, or from the future, would
    never grow old.
    """
    kept = [
        (name, value)
        for name, value in headers.multi_items()
        if name.lower() not in _DROPPED | {"date"} and value.isascii()
    ]
    day = headers.get("date", "")
    dated = Answer("", 200, headers).dated
    fits = dated is not None and dated.timestamp() <= time.time()
    return httpx.Headers([*kept, ("date", day if fits else formatdate(usegmt=True))])


def _age(answer: Answer) -> float:
    """Seconds since the server last said that this is the page."""
    return time.time() - answer.dated.timestamp() if answer.dated else float("inf")


def _longest(answer: Answer) -> float:
    """The age up to which an answer may stand in, in seconds (RFC 5861, section 4, counts from the
    end of its freshness).
    """
    rules = answer.headers.get("cache-control", "")
    given = _STALE_IF_ERROR.search(rules)
    if not given:
        return STALE_SECONDS
    fresh = _MAX_AGE.search(rules)
    return float(given[1]) + (float(fresh[1]) if fresh else 0.0)

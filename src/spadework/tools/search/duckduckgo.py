"""Search the web with DuckDuckGo, without an API key. The package `ddgs` can hang, so each search
runs in a child process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
from collections.abc import Set as AbstractSet
from datetime import date
from math import ceil
from typing import Any

from spadework.deadline import today
from spadework.errors import QuotaSpent, SearchError
from spadework.tools.ranking.query_operators import is_dated, news_wanted, reach
from spadework.tools.search.provider import over_the_wire
from spadework.tools.search.result_rows import (
    Row,
    is_spoken,
    number_rows,
    region,
    tongue,
    with_sites,
)
from spadework.tools.stores.exchanges import Piece
from spadework.tools.text.language import ENGLISH
from spadework.tools.web.connections import proxy_for
from spadework.values import Hit, Query, SourceKind, Wish

HOST = "html.duckduckgo.com"
_REGION = "us-en"
_FIRST = date(1990, 1, 1)


class DuckDuckGo:
    """Searches the web through DuckDuckGo."""

    name = "duckduckgo"
    describes = ENGLISH("scope_web", service="DuckDuckGo")

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return the first page of results, about 10, from the web search or the news search."""
        asked: dict[str, Any] = {"query": with_sites(query), "limit": limit}
        asked |= {"since": _span(query), "news": news_wanted(query)}
        if place := region(query.country, tongue(query)):
            asked["region"] = place

        async def send() -> Piece:
            return Piece({}, await _ask_child(json.dumps(asked | {"seconds": seconds}).encode()))

        try:
            async with asyncio.timeout(seconds):
                piece = await over_the_wire(["DuckDuckGo", asked], send)
        except TimeoutError:
            raise SearchError(f"DuckDuckGo did not answer within {seconds:g} s.") from None
        try:
            answer = json.loads(piece.body)
        except ValueError:
            answer = None  # incomplete output
        return hits(answer, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: news, time, and (if a region fits) country and language."""
        place = region(query.country, query.language)
        met: list[Wish] = ["news", "time"]
        if place and query.country:
            met.append("country")
        if is_spoken(place, query.language):
            met.append("language")
        return frozenset(met)


def _span(query: Query) -> str | None:
    if is_dated(query) and not query.news:
        return f"{query.since or _FIRST}..{query.until or today().date()}"
    span = reach(query)
    return None if span is None or (query.news and span == "year") else span[0]


def hits(answer: Any, query: Query, limit: int) -> list[Hit]:
    """Convert the child's `{"results": […]}` to hits. Raises SearchError for any other output."""
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise _error(str(answer.get("error", "")) if isinstance(answer, dict) else "")
    rows = (
        Row(r.get("href") or r.get("url"), *map(r.get, ("title", "body", "date", "source")))
        for r in results
        if isinstance(r, dict)
    )
    kind: SourceKind = "news" if news_wanted(query) else ""
    return number_rows(rows, DuckDuckGo.name, query, limit, kind)


def _error(text: str) -> SearchError:
    """Convert a ddgs error message to an exception. "No results" may also mean rate limiting."""
    if "Ratelimit" in text:
        return QuotaSpent("DuckDuckGo received too many requests.", busy=True)
    if "No results" in text:
        return SearchError("DuckDuckGo returned no results; it may be limiting requests.")
    if "DNSError" in text or "ConnectError" in text:
        return SearchError("DuckDuckGo could not be reached.")
    if text:
        return SearchError(f"DuckDuckGo could not be searched: {text[:200]}.")
    return SearchError("The search with DuckDuckGo was interrupted.")


async def _ask_child(asked: bytes) -> bytes:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-P", "-m", __name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        said, _ = await child.communicate(asked)
    finally:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        await child.wait()
    return said


def _answer(
    query: str, limit: int, seconds: float, since: str | None, news: bool, region: str = _REGION
) -> dict[str, Any]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException

    client = DDGS(proxy=proxy_for(f"https://{HOST}"), timeout=ceil(seconds))
    try:
        ask = client.news if news else client.text
        found = ask(query, region=region, backend="duckduckgo", max_results=limit, timelimit=since)
        return {"results": found}
    except DDGSException as error:
        return {"error": str(error) or type(error).__name__}


def _main() -> None:
    """Run one search. Exit at most a second after the deadline, even if the parent has exited."""
    asked = json.load(sys.stdin)
    watch = threading.Timer(asked["seconds"] + 1, os._exit, (1,))
    watch.daemon = True
    watch.start()
    sys.stdout.write(json.dumps(_answer(**asked)))
    sys.stdout.flush()
    os._exit(0)  # a normal exit would wait for the threads of ddgs


if __name__ == "__main__":
    _main()

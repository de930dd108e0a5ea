"""Searching DuckDuckGo without a key. The package `ddgs` blocks and may hang, so a search is a
child process with a deadline: this module, asked in JSON on its standard input.
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

from spadework import clock
from spadework.errors import QuotaSpent, SearchError
from spadework.tools.ranking.recency import is_dated, news_wanted, reach
from spadework.tools.search.result_rows import Row, number_rows
from spadework.tools.search.search_filters import is_spoken, region, tongue, with_sites
from spadework.tools.stores.exchanges import Piece
from spadework.tools.web.connections import proxy_for
from spadework.tools.web.recorded_traffic import over_the_wire
from spadework.values import Hit, Query, Wish

#: Where the web is asked; whoever can reach it can search.
HOST = "html.duckduckgo.com"
#: What `ddgs` asks for where no region is named, and where an open range of days begins.
_REGION = "us-en"
_FIRST = date(1990, 1, 1)


class DuckDuckGo:
    """The web, through DuckDuckGo."""

    name = "duckduckgo"
    describes = "the web, through DuckDuckGo"

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """The first page, about 10 results; about now of the news. See `Provider.search`."""
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
            answer = None  # it broke off
        return hits(answer, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """News and days, and a region that it has: a country, with one of its languages."""
        place = region(query.country, query.language)
        met: list[Wish] = ["news", "time"]
        if place and query.country:
            met.append("country")
        if is_spoken(place, query.language):
            met.append("language")
        return frozenset(met)


def _span(query: Query) -> str | None:
    """The days as DuckDuckGo writes them, None for all; news know ranges back from today alone."""
    if is_dated(query) and not query.news:
        return f"{query.since or _FIRST}..{query.until or clock.today().date()}"
    span = reach(query)
    return None if span is None or (query.news and span == "year") else span[0]


def hits(answer: Any, query: Query, limit: int) -> list[Hit]:
    """The hits in `{"results": […]}` of the child process; raises SearchError for anything else."""
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise _error(str(answer.get("error", "")) if isinstance(answer, dict) else "")
    # Web pages have an `href`, news a `url` and a date.
    rows = (
        Row(r.get("href") or r.get("url"), *map(r.get, ("title", "body", "date", "source")))
        for r in results
        if isinstance(r, dict)
    )
    return number_rows(rows, DuckDuckGo.name, query, limit)


def _error(text: str) -> SearchError:
    """The failure in the words of ddgs, whose "no results" may also be a refusal, no finding."""
    if "Ratelimit" in text:
        return QuotaSpent("DuckDuckGo answered that there were too many requests.", busy=True)
    if "No results" in text:
        return SearchError("DuckDuckGo gave no results, as it does when it limits requests.")
    if "DNSError" in text or "ConnectError" in text:
        return SearchError("DuckDuckGo could not be reached.")
    if text:
        return SearchError(f"DuckDuckGo could not be searched: {text[:200]}.")
    return SearchError("The search of DuckDuckGo broke off.")


async def _ask_child(asked: bytes) -> bytes:
    """What the child process answers. However this ends, no process is left."""
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
    """The child process: one search that keeps its deadline also when nobody can kill it."""
    asked = json.load(sys.stdin)
    watch = threading.Timer(asked["seconds"] + 1, os._exit, (1,))
    watch.daemon = True
    watch.start()
    sys.stdout.write(json.dumps(_answer(**asked)))
    sys.stdout.flush()
    os._exit(0)  # ddgs would wait for its threads


if __name__ == "__main__":
    _main()

"""Searching DuckDuckGo without a key, through the package `ddgs`.

That package blocks, keeps threads and may hang, so every search runs in a child process that is
killed at its deadline: this module, run with the question as JSON on its standard input.
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
from spadework.tools.search.countries import is_spoken, region
from spadework.tools.search.domain_filter import with_sites
from spadework.tools.search.result_rows import publisher_of
from spadework.tools.search.search_filters import tongue
from spadework.tools.stores.tape import Piece
from spadework.tools.text.dates import moment
from spadework.tools.web.recorded_traffic import over_the_wire
from spadework.values import Hit, Query, Wish

#: Where the web is asked; whoever can reach it can search.
HOST = "html.duckduckgo.com"

#: The region that `ddgs` asks for where nobody names one, and where a range of days begins that has
#: no beginning.
_REGION = "us-en"
_FIRST = date(1990, 1, 1)


class DuckDuckGo:
    """The web, through DuckDuckGo."""

    name = "duckduckgo"
    describes = "the web, through DuckDuckGo"

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """The first page of results, about 10; for questions about now of the news. See
        `Provider.search`.
        """
        asked = {
            "query": with_sites(query),
            "limit": limit,
            "since": _span(query),
            "news": news_wanted(query),
        }
        if place := region(query.country, tongue(query)):
            asked["region"] = place

        async def send() -> Piece:
            return Piece({}, await _ask_child(json.dumps(asked | {"seconds": seconds}).encode()))

        try:
            async with asyncio.timeout(seconds):
                piece = await over_the_wire(["DuckDuckGo", asked], send)
        except TimeoutError:
            raise SearchError(f"DuckDuckGo did not answer within {seconds:g} s.") from None
        return hits(_parse_child_reply(piece.body), query, limit)

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
    """The days that count as DuckDuckGo writes them, None for all of time. Its news know ranges
    back from today alone.
    """
    if is_dated(query) and not query.news:
        return f"{query.since or _FIRST}..{query.until or clock.today().date()}"
    span = reach(query)
    return None if span is None or (query.news and span == "year") else span[0]


def hits(answer: Any, query: Query, limit: int) -> list[Hit]:
    """The hits of what the child process answered, `{"results": […]}`; raises SearchError for
    `{"error": …}` and for anything else.
    """
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise _error(str(answer.get("error", "")) if isinstance(answer, dict) else "")
    # Web pages have an `href`, news a `url` and a date.
    named = [(str(r.get("href") or r.get("url")), r) for r in results if isinstance(r, dict)]
    usable = [(url, r) for url, r in named if url.startswith(("http://", "https://"))]
    return [
        Hit(
            url=url,
            title=str(result.get("title") or ""),
            snippet=str(result.get("body") or ""),
            position=position,
            provider=DuckDuckGo.name,
            query=query.text,
            publisher=publisher_of(result.get("source")),
            published_at=moment(result.get("date")),
        )
        for position, (url, result) in enumerate(usable[:limit], 1)
    ]


def _error(text: str) -> SearchError:
    """What went wrong, from the words of ddgs. It says "no results" also when DuckDuckGo refuses to
    answer, so that is no finding.
    """
    if "Ratelimit" in text:
        return QuotaSpent("DuckDuckGo answered that there were too many requests.")
    if "No results" in text:
        return SearchError("DuckDuckGo gave no results, as it does when it limits requests.")
    if "DNSError" in text or "ConnectError" in text:
        return SearchError("DuckDuckGo could not be reached.")
    return SearchError(
        f"DuckDuckGo could not be searched: {text[:200]}."
        if text
        else "The search of DuckDuckGo broke off."
    )


def _parse_child_reply(answer: bytes) -> Any:
    """The JSON that the child process answers, None when it broke off."""
    try:
        return json.loads(answer)
    except ValueError:
        return None


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
    query: str,
    limit: int,
    seconds: float,
    since: str | None,
    news: bool,
    region: str = _REGION,
) -> dict[str, Any]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException

    client = DDGS(timeout=ceil(seconds))
    try:
        ask = client.news if news else client.text
        found = ask(query, region=region, backend="duckduckgo", max_results=limit, timelimit=since)
        return {"results": found}
    except DDGSException as error:
        return {"error": str(error) or type(error).__name__}


def _main() -> None:
    """The child process: one search, and no longer than its deadline even when nobody is there any
    more to kill it.
    """
    asked = json.load(sys.stdin)
    watch = threading.Timer(asked["seconds"] + 1, os._exit, (1,))
    watch.daemon = True
    watch.start()
    sys.stdout.write(json.dumps(_answer(**asked)))
    sys.stdout.flush()
    os._exit(0)  # ddgs would wait for its threads


if __name__ == "__main__":
    _main()

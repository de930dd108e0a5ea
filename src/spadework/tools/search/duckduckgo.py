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
from math import ceil
from typing import Any

from spadework.errors import QuotaSpent, SearchError
from spadework.tools.dates import moment
from spadework.tools.search.domains import with_sites
from spadework.tools.search.recency import freshness_of
from spadework.tools.tape import Piece
from spadework.tools.wire import over_the_wire
from spadework.values import Freshness, Hit, Query

#: Where the web is asked; whoever can reach it can search.
HOST = "html.duckduckgo.com"

#: The past month and the past year.
_RANGES: dict[Freshness, str] = {"now": "m", "recent": "y"}


class DuckDuckGo:
    """The web, through DuckDuckGo."""

    name = "duckduckgo"
    describes = "the web, through DuckDuckGo"

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """The first page of results, about 10; for questions about now of the news. See
        `Provider.search`.
        """
        fresh = freshness_of(query)
        asked = {
            "query": with_sites(query),
            "limit": limit,
            "since": _RANGES.get(fresh),
            "news": fresh == "now",
        }

        async def send() -> Piece:
            return Piece({}, await _ask_child(json.dumps(asked | {"seconds": seconds}).encode()))

        try:
            async with asyncio.timeout(seconds):
                piece = await over_the_wire(["DuckDuckGo", asked], send)
        except TimeoutError:
            raise SearchError(f"DuckDuckGo did not answer within {seconds:g} s.") from None
        return hits(_parsed(piece.body), query, limit)


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


def _parsed(answer: bytes) -> Any:
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
    query: str, limit: int, seconds: float, since: str | None, news: bool
) -> dict[str, Any]:
    from ddgs import DDGS
    from ddgs.exceptions import DDGSException

    client = DDGS(timeout=ceil(seconds))
    try:
        ask = client.news if news else client.text
        return {"results": ask(query, backend="duckduckgo", max_results=limit, timelimit=since)}
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

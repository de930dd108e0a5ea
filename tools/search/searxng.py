"""Searching through a SearXNG server of the owner."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import httpx

from spadework.errors import QuotaSpent, SearchError, SettingsError
from spadework.values import Hit, Query


class SearXNG:
    """The web, through the SearXNG server at `url`. Raises SettingsError where that is no http(s) address."""

    name = "searxng"
    describes = "the web, through SearXNG"

    def __init__(self, url: str) -> None:
        base = url.strip().rstrip("/").removesuffix("/search")
        if not base.lower().startswith(("http://", "https://")):
            raise SettingsError(f"searxng_url cannot be {url[:80]!r}: it must begin with http:// or https://.")
        self._endpoint = f"{base}/search"
        # Reading the certificates takes as long as a search, so they are read once, and not for plain HTTP.
        self._verify = httpx.create_ssl_context() if base.lower().startswith("https://") else False

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """The first page of results, 16 to 20 where the engines answer. See `Provider.search`."""
        try:
            async with asyncio.timeout(seconds), httpx.AsyncClient(verify=self._verify, trust_env=False, timeout=None) as client:
                answer = await client.get(self._endpoint, params={"q": query.text, "format": "json"}, follow_redirects=True)
        except TimeoutError:
            raise SearchError(f"SearXNG did not answer within {seconds:g} s.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise SearchError(f"SearXNG could not be asked: {str(error).rstrip('.') or type(error).__name__}.") from error
        return hits(_json(answer), query, limit)


def _json(answer: httpx.Response) -> Any:
    """The JSON of an answer, or the error that it stands for."""
    if answer.status_code == httpx.codes.FORBIDDEN:
        raise SearchError("SearXNG refused JSON: add json to search.formats in its settings.yml.")
    if answer.status_code == httpx.codes.TOO_MANY_REQUESTS:
        raise QuotaSpent("SearXNG answered that there were too many requests.")
    if answer.status_code != httpx.codes.OK:
        raise SearchError(f"SearXNG answered with status {answer.status_code}.")
    try:
        return answer.json()
    except ValueError:
        kind = answer.headers.get("content-type", "").partition(";")[0]
        raise SearchError(f"SearXNG did not answer with whole JSON ({kind[:40] or 'of no type'}).") from None


def hits(answer: Any, query: Query, limit: int) -> list[Hit]:
    """The hits of SearXNG's JSON. Its `number_of_results` is often 0 and is not looked at.

    Raises SearchError when there are none because engines failed, or when the JSON is no search answer.
    """
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise SearchError("SearXNG answered with JSON that holds no results.")
    silent = answer.get("unresponsive_engines")
    if not results and silent and isinstance(silent, list):
        raise SearchError(f"No engine of SearXNG answered: {', '.join(_engine(engine) for engine in silent)[:300]}.")
    usable = [r for r in results if isinstance(r, dict) and str(r.get("url")).startswith(("http://", "https://"))]
    return [_hit(result, query, position) for position, result in enumerate(usable[:limit], 1)]


def _hit(result: dict[str, Any], query: Query, position: int) -> Hit:
    return Hit(
        url=result["url"],
        title=str(result.get("title") or ""),
        snippet=str(result.get("content") or ""),
        position=position,
        provider=SearXNG.name,
        query=query.text,
        published_at=_date(result.get("publishedDate")),
    )


def _date(text: Any) -> datetime | None:
    try:
        date = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)


def _engine(engine: Any) -> str:
    """An engine that did not answer, with its reason: SearXNG gives a pair."""
    return f"{engine[0]} ({engine[1]})" if isinstance(engine, list) and len(engine) > 1 else str(engine)

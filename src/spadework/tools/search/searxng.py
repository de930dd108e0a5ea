"""Search provider for the owner's SearXNG server."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from spadework.errors import SearchError, SettingsError
from spadework.tools.ranking.recency import news_wanted, reach
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import Row, number_rows
from spadework.tools.search.search_filters import ENGLISH, tongue, with_sites
from spadework.values import Hit, Query, Wish

_ACCESS = Access(mend="add json to search.formats in its settings.yml")


class SearXNG:
    """The web, through the server at `url`. Raises SettingsError unless it is an http(s)
    address.
    """

    name = "searxng"
    describes = "the web, through SearXNG"

    def __init__(self, url: str, *, agent: str = AGENT) -> None:
        base = url.strip().rstrip("/").removesuffix("/search")
        if not base.lower().startswith(("http://", "https://")):
            raise SettingsError(
                f"searxng_url cannot be {url[:80]!r}: it must begin with http:// or https://."
            )
        self.where = base
        self._service = Service("SearXNG", base, _ACCESS, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Search for the first page, 16 to 20 results if the engines respond. See
        `Provider.search`.
        """
        params = {"q": with_sites(query), "format": "json", **_query_parameters(query)}
        answer = await self._service.json("/search", params=params, seconds=seconds)
        return hits(answer, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return all filters; dates use the shortest range that contains the days."""
        return frozenset[Wish](("country", "language", "news", "time"))


def _query_parameters(query: Query) -> dict[str, str]:
    asked: dict[str, str] = {}
    if span := reach(query):
        asked["time_range"] = "month" if span == "week" else span  # not supported by all versions
    if news_wanted(query):
        asked["categories"] = "news" if query.news else "general,news"
    if spoken := tongue(query) or (ENGLISH if query.country else ""):
        # A country is part of a locale, such as pt-BR.
        code, _, own = spoken.partition("-")
        asked["language"] = "-".join(filter(None, (code, (query.country or own).upper())))
    return asked


def hits(answer: Any, query: Query, limit: int) -> list[Hit]:
    """Parse SearXNG's JSON, ignoring `number_of_results`, which is often 0. Raises SearchError if
    there are no results because engines failed, or if the JSON is invalid.
    """
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise SearchError("SearXNG answered with JSON that holds no results.")
    silent = answer.get("unresponsive_engines")
    if not results and silent and isinstance(silent, list):
        engines = ", ".join(map(_engine, silent))[:300]
        raise SearchError(f"No engine of SearXNG answered: {engines}.")
    fields, rows = ("url", "title", "content", "publishedDate"), []
    for r in results:
        if isinstance(r, dict):
            # A paper's journal, or a news item's outlet.
            publisher = r.get("journal") or r.get("publisher") or r.get("source")
            url, title, text, date = map(r.get, fields)
            rows.append(Row(url, title, text, date, publisher))
    return number_rows(rows, SearXNG.name, query, limit)


def _engine(engine: Any) -> str:
    pair = isinstance(engine, list) and len(engine) > 1
    return f"{engine[0]} ({engine[1]})" if pair else str(engine)

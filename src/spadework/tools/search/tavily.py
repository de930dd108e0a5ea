"""Searching the web through Tavily."""

from __future__ import annotations

from pydantic import SecretStr

from spadework.tools.search.answer import AGENT, Service, read_key
from spadework.tools.search.domains import domains
from spadework.tools.search.failure import Access
from spadework.tools.search.recency import freshness_of
from spadework.tools.search.rows import Row, numbered
from spadework.values import Freshness, Hit, Query

URL = "https://api.tavily.com"
_MOST = 20
_QUERY_CHARS = 400
_RANGES: dict[Freshness, str] = {"now": "month", "recent": "year"}


class Tavily:
    """The web, through Tavily."""

    name = "tavily"
    describes = "the web, through Tavily"

    def __init__(self, key: SecretStr | None, *, url: str = URL, agent: str = AGENT) -> None:
        secret = read_key(key, "TAVILY_API_KEY")
        self._service = Service(
            "Tavily",
            url,
            Access({"Authorization": f"Bearer {secret}"}, secret, "check TAVILY_API_KEY"),
            agent,
        )

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """At most 20 results; dates only for queries about now, which search the news. See
        `Provider.search`.
        """
        fresh = freshness_of(query)
        topic = "news" if fresh == "now" else "general"
        body = {
            "query": query.text[:_QUERY_CHARS],
            "max_results": min(limit, _MOST),
            "topic": topic,
            "search_depth": "basic",
        }
        wishes = {
            "time_range": _RANGES.get(fresh),
            "include_domains": domains(query.include_domains),
        }
        wishes |= {"exclude_domains": domains(query.exclude_domains)}
        body |= {name: wish for name, wish in wishes.items() if wish}
        results = self._service.results(
            await self._service.json("/search", body=body, seconds=seconds), "results"
        )
        rows = (
            Row(r.get("url"), r.get("title"), r.get("content"), r.get("published_date"))
            for r in results
        )
        return numbered(rows, self.name, query, limit)

"""Searching the web through Tavily."""

from __future__ import annotations

from pydantic import SecretStr

from spadework.tools.search.answer import AGENT, Service, read_key
from spadework.tools.search.failure import Access
from spadework.tools.search.recency import about_now
from spadework.tools.search.rows import Row, numbered
from spadework.values import Hit, Query

URL = "https://api.tavily.com"
_MOST = 20
_QUERY_CHARS = 400


class Tavily:
    """The web, through Tavily."""

    name = "tavily"
    describes = "the web, through Tavily"

    def __init__(self, key: SecretStr | None, *, url: str = URL, agent: str = AGENT) -> None:
        secret = read_key(key, "TAVILY_API_KEY")
        self._service = Service("Tavily", url, Access({"Authorization": f"Bearer {secret}"}, secret, "check TAVILY_API_KEY"), agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """At most 20 results; dates only for queries about now, which search the news. See `Provider.search`."""
        topic = "news" if about_now(query.text) else "general"
        body = {"query": query.text[:_QUERY_CHARS], "max_results": min(limit, _MOST), "topic": topic, "search_depth": "basic"}
        results = self._service.results(await self._service.json("/search", body=body, seconds=seconds), "results")
        rows = (Row(r.get("url"), r.get("title"), r.get("content"), r.get("published_date")) for r in results)
        return numbered(rows, self.name, query, limit)

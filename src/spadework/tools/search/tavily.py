"""Search the web with the Tavily API."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from pydantic import SecretStr

from spadework.tools.ranking.query_operators import is_dated, news_wanted, reach
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import NAMES, Row, domains, number_rows
from spadework.tools.web.connections import read_key
from spadework.values import Hit, Query, Wish

URL = "https://api.tavily.com"
_MOST = 20


class Tavily:
    """The web, through Tavily."""

    name = "tavily"
    describes = "the web, through Tavily"

    def __init__(self, key: SecretStr | None, *, url: str = URL, agent: str = AGENT) -> None:
        secret = read_key(key, "TAVILY_API_KEY")
        access = Access({"Authorization": f"Bearer {secret}"}, secret, "check TAVILY_API_KEY")
        self._service = Service("Tavily", url, access, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most 20 results. Only news results have dates."""
        news = news_wanted(query)
        body = {
            "query": query.text,
            "max_results": min(limit, _MOST),
            "topic": "news" if news else "general",
            "search_depth": "basic",
        }
        wishes = {
            "time_range": None if is_dated(query) else reach(query),
            "start_date": query.since.isoformat() if query.since else None,
            "end_date": query.until.isoformat() if query.until else None,
            "country": _country(query),
            "include_domains": domains(query.include_domains),
            "exclude_domains": domains(query.exclude_domains),
        }
        body |= {name: wish for name, wish in wishes.items() if wish}
        answer = await self._service.json("/search", body=body, seconds=seconds)
        fields = ("url", "title", "content", "published_date")
        rows = (Row(*map(r.get, fields)) for r in self._service.results(answer, "results"))
        return number_rows(rows, self.name, query, limit, "news" if news else "")

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: news, time and, except for news, Tavily's countries."""
        return frozenset[Wish](("news", "time", *(("country",) if _country(query) else ())))


def _country(query: Query) -> str | None:
    return None if news_wanted(query) else NAMES.get(query.country)

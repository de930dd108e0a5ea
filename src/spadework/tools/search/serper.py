"""Search provider for Google through Serper: the web, and news for recent topics."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from pydantic import SecretStr

from spadework.tools.ranking.recency import is_dated, news_wanted, reach
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import Row, number_rows
from spadework.tools.search.search_filters import ENGLISH, tongue, with_sites
from spadework.tools.web.api_keys import read_key
from spadework.values import Hit, Query, Wish

URL = "https://google.serper.dev"
_MOST = 100


class Serper:
    """The web, through Serper."""

    name = "serper"
    describes = "the web, through Serper"

    def __init__(self, key: SecretStr | None, *, url: str = URL, agent: str = AGENT) -> None:
        secret = read_key(key, "SERPER_API_KEY")
        access = Access({"X-API-KEY": secret}, secret, "check SERPER_API_KEY (or SERP_API_KEY)")
        self._service = Service("Serper", url, access, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Search for at most 100 results; for recent topics, the month's news. See
        `Provider.search`.
        """
        path, listed = ("/news", "news") if news_wanted(query) else ("/search", "organic")
        body: dict[str, Any] = {"q": with_sites(query), "num": min(limit, _MOST)}
        body["hl"] = tongue(query) or ENGLISH
        wishes = {"gl": query.country, "tbs": _span(query)}
        body |= {name: wish for name, wish in wishes.items() if wish}
        answer = await self._service.json(path, body=body, seconds=seconds)
        fields = ("link", "title", "snippet", "date", "source")
        rows = (Row(*map(r.get, fields)) for r in self._service.results(answer, listed))
        return number_rows(rows, self.name, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return all filters."""
        return frozenset[Wish](("country", "language", "news", "time"))


def _span(query: Query) -> str:
    if not is_dated(query):
        span = reach(query)
        return f"qdr:{span[0]}" if span else ""
    ends = (("cd_min", query.since), ("cd_max", query.until))
    given = [f"{name}:{day.month}/{day.day}/{day.year}" for name, day in ends if day]
    return ",".join(["cdr:1", *given])

"""Search Google through the Serper API."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from pydantic import SecretStr

from spadework.tools.ranking.query_operators import is_dated, news_wanted, reach
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import ENGLISH, Row, number_rows, tongue, with_sites
from spadework.tools.web.connections import read_key
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
        """Return at most 100 results. A query about current events gets news of the past month."""
        news = news_wanted(query)
        path, listed = ("/news", "news") if news else ("/search", "organic")
        body: dict[str, Any] = {"q": with_sites(query), "num": min(limit, _MOST)}
        body["hl"] = tongue(query) or ENGLISH
        wishes = {"gl": query.country, "tbs": _span(query)}
        body |= {name: wish for name, wish in wishes.items() if wish}
        answer = await self._service.json(path, body=body, seconds=seconds)
        fields = ("link", "title", "snippet", "date", "source")
        rows = (Row(*map(r.get, fields)) for r in self._service.results(answer, listed))
        return number_rows(rows, self.name, query, limit, "news" if news else "")

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: all of them."""
        return frozenset[Wish](("country", "language", "news", "time"))


def _span(query: Query) -> str:
    if not is_dated(query):
        span = reach(query)
        return f"qdr:{span[0]}" if span else ""
    ends = (("cd_min", query.since), ("cd_max", query.until))
    given = [f"{name}:{day.month}/{day.day}/{day.year}" for name, day in ends if day]
    return ",".join(["cdr:1", *given])

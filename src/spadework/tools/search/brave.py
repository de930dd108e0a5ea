"""Search the web with the Brave Search API."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import date
from typing import Any

from pydantic import SecretStr

from spadework import clock
from spadework.tools.ranking.query_operators import is_dated, news_wanted, reach
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import (
    BRAVE_COUNTRIES,
    BRAVE_LANGUAGES,
    Row,
    number_rows,
    plain,
    tongue,
    with_sites,
)
from spadework.tools.web.connections import read_key
from spadework.values import Hit, Query, SourceKind, Wish

URL = "https://api.search.brave.com/res/v1"
_MOST = 20
_QUERY_WORDS, _QUERY_CHARS = 50, 400
_FIRST = date(1990, 1, 1)


class Brave:
    """The web, through Brave."""

    name = "brave"
    describes = "the web, through Brave"

    def __init__(self, key: SecretStr | None, *, url: str = URL, agent: str = AGENT) -> None:
        secret = read_key(key, "BRAVE_API_KEY")
        access = Access({"X-Subscription-Token": secret}, secret, "check BRAVE_API_KEY")
        self._service = Service("Brave", url, access, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most 20 results. A query about current events gets news of the past month."""
        news = news_wanted(query)
        sites = with_sites(query, " ").split()
        words = query.text.split()[: max(1, _QUERY_WORDS - len(sites))]
        asked = " ".join([" ".join(words)[: _QUERY_CHARS - len(" ".join(sites)) - 1], *sites])
        params = {"q": asked, "count": str(min(limit, _MOST)), **_wishes(query)}
        params |= {} if news else {"result_filter": "web", "text_decorations": "false"}
        path, listed = ("/news/search", ()) if news else ("/web/search", ("web",))
        answer = await self._service.json(path, params=params, seconds=seconds)
        if isinstance(answer, dict) and answer.get("type") == "search" and "web" not in answer:
            return []  # Brave omits empty sections
        found = self._service.results(answer, *listed, "results")
        kind: SourceKind = "news" if news else ""
        return number_rows(map(_row, found), self.name, query, limit, kind)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: news, time, and Brave's countries and languages."""
        known = _wishes(query)
        named: tuple[tuple[Wish, str], ...] = (("country", "country"), ("language", "search_lang"))
        return frozenset[Wish](("news", "time", *(wish for wish, name in named if name in known)))


def _wishes(query: Query) -> dict[str, str]:
    found = {"freshness": _span(query)}
    if query.country in BRAVE_COUNTRIES:
        found["country"] = query.country.upper()
    spoken = tongue(query)
    found["search_lang"] = BRAVE_LANGUAGES.get(spoken) or BRAVE_LANGUAGES.get(spoken[:2], "")
    return {name: wish for name, wish in found.items() if wish}


def _span(query: Query) -> str:
    if not is_dated(query):
        span = reach(query)
        return f"p{span[0]}" if span else ""
    return f"{query.since or _FIRST}to{query.until or clock.today().date()}"


def _row(result: dict[str, Any]) -> Row:
    profile = result.get("profile")
    publisher = profile.get("long_name") or profile.get("name") if isinstance(profile, dict) else ""
    return Row(
        result.get("url"),
        plain(result.get("title")),
        plain(result.get("description")),
        result.get("page_age"),
        publisher or result.get("source"),
    )

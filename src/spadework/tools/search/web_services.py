"""Search the web through Brave, Serper (Google), Tavily or SearXNG."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import date
from typing import Any

from pydantic import SecretStr

from spadework.deadline import today
from spadework.errors import SearchError, SettingsError, must_be
from spadework.tools.ranking.query_operators import is_dated, news_wanted, reach
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import (
    BRAVE_COUNTRIES,
    BRAVE_LANGUAGES,
    NAMES,
    Row,
    domains,
    number_rows,
    plain,
    tongue,
    with_sites,
)
from spadework.tools.text.language import DEFAULT, ENGLISH
from spadework.tools.web.connections import read_key
from spadework.values import Hit, Query, SourceKind, Wish

BRAVE_URL = "https://api.search.brave.com/res/v1"
_BRAVE_MOST = 20
_QUERY_WORDS, _QUERY_CHARS = 50, 400
_BRAVE_FIRST = date(1990, 1, 1)


class Brave:
    """Searches the web through Brave."""

    name = "brave"
    describes = ENGLISH("scope_web", service="Brave")

    def __init__(self, key: SecretStr | None, *, url: str = BRAVE_URL, agent: str = AGENT) -> None:
        secret = read_key(key, "BRAVE_API_KEY")
        access = Access({"X-Subscription-Token": secret}, secret, "check BRAVE_API_KEY")
        self._service = Service("Brave", url, access, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most 20 hits: news, if the query asks for news or is about current events."""
        news = news_wanted(query)
        sites = with_sites(query, " ").split()
        words = query.text.split()[: max(1, _QUERY_WORDS - len(sites))]
        asked = " ".join([" ".join(words)[: _QUERY_CHARS - len(" ".join(sites)) - 1], *sites])
        params = {"q": asked, "count": str(min(limit, _BRAVE_MOST)), **_brave_wishes(query)}
        params |= {} if news else {"result_filter": "web", "text_decorations": "false"}
        path, listed = ("/news/search", ()) if news else ("/web/search", ("web",))
        answer = await self._service.json(path, params=params, seconds=seconds)
        if isinstance(answer, dict) and answer.get("type") == "search" and "web" not in answer:
            return []  # Brave omits empty sections
        found = self._service.results(answer, *listed, "results")
        kind: SourceKind = "news" if news else ""
        return number_rows(map(_brave_row, found), self.name, query, limit, kind)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: news, time, and countries or languages that Brave knows."""
        known = _brave_wishes(query)
        named: tuple[tuple[Wish, str], ...] = (("country", "country"), ("language", "search_lang"))
        return frozenset[Wish](("news", "time", *(wish for wish, name in named if name in known)))


def _brave_wishes(query: Query) -> dict[str, str]:
    found = {"freshness": _brave_span(query)}
    if query.country in BRAVE_COUNTRIES:
        found["country"] = query.country.upper()
    spoken = tongue(query)
    found["search_lang"] = BRAVE_LANGUAGES.get(spoken) or BRAVE_LANGUAGES.get(spoken[:2], "")
    return {name: wish for name, wish in found.items() if wish}


def _brave_span(query: Query) -> str:
    if not is_dated(query):
        span = reach(query)
        return f"p{span[0]}" if span else ""
    return f"{query.since or _BRAVE_FIRST}to{query.until or today().date()}"


def _brave_row(result: dict[str, Any]) -> Row:
    profile = result.get("profile")
    publisher = profile.get("long_name") or profile.get("name") if isinstance(profile, dict) else ""
    return Row(
        result.get("url"),
        plain(result.get("title")),
        plain(result.get("description")),
        result.get("page_age"),
        publisher or result.get("source"),
    )


SERPER_URL = "https://google.serper.dev"
_SERPER_MOST = 100


class Serper:
    """Searches the web through Serper."""

    name = "serper"
    describes = ENGLISH("scope_web", service="Serper")

    def __init__(self, key: SecretStr | None, *, url: str = SERPER_URL, agent: str = AGENT) -> None:
        secret = read_key(key, "SERPER_API_KEY")
        access = Access({"X-API-KEY": secret}, secret, "check SERPER_API_KEY (or SERP_API_KEY)")
        self._service = Service("Serper", url, access, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most 100 hits: news, if the query asks for news or is about current events."""
        news = news_wanted(query)
        path, listed = ("/news", "news") if news else ("/search", "organic")
        body: dict[str, Any] = {"q": with_sites(query), "num": min(limit, _SERPER_MOST)}
        body["hl"] = tongue(query) or DEFAULT
        wishes = {"gl": query.country, "tbs": _serper_span(query)}
        body |= {name: wish for name, wish in wishes.items() if wish}
        answer = await self._service.json(path, body=body, seconds=seconds)
        fields = ("link", "title", "snippet", "date", "source")
        rows = (Row(*map(r.get, fields)) for r in self._service.results(answer, listed))
        return number_rows(rows, self.name, query, limit, "news" if news else "")

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: all of them."""
        return frozenset[Wish](("country", "language", "news", "time"))


def _serper_span(query: Query) -> str:
    if not is_dated(query):
        span = reach(query)
        return f"qdr:{span[0]}" if span else ""
    ends = (("cd_min", query.since), ("cd_max", query.until))
    given = [f"{name}:{day.month}/{day.day}/{day.year}" for name, day in ends if day]
    return ",".join(["cdr:1", *given])


TAVILY_URL = "https://api.tavily.com"
_TAVILY_MOST = 20


class Tavily:
    """Searches the web through Tavily."""

    name = "tavily"
    describes = ENGLISH("scope_web", service="Tavily")

    def __init__(self, key: SecretStr | None, *, url: str = TAVILY_URL, agent: str = AGENT) -> None:
        secret = read_key(key, "TAVILY_API_KEY")
        access = Access({"Authorization": f"Bearer {secret}"}, secret, "check TAVILY_API_KEY")
        self._service = Service("Tavily", url, access, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most 20 hits. Only news hits have dates."""
        news = news_wanted(query)
        body = {
            "query": query.text,
            "max_results": min(limit, _TAVILY_MOST),
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
        """Return the supported filters: news, time and, except for news, countries Tavily knows."""
        return frozenset[Wish](("news", "time", *(("country",) if _country(query) else ())))


def _country(query: Query) -> str | None:
    return None if news_wanted(query) else NAMES.get(query.country)


_SEARXNG_ACCESS = Access(mend="add json to search.formats in its settings.yml")


class SearXNG:
    """Searches the web through SearXNG at `url`. Raises SettingsError if the URL is invalid."""

    name = "searxng"
    describes = ENGLISH("scope_web", service="SearXNG")

    def __init__(self, url: str, *, agent: str = AGENT) -> None:
        base = url.strip().rstrip("/").removesuffix("/search")
        if not base.lower().startswith(("http://", "https://")):
            raise SettingsError(must_be("searxng_url", "an http:// or https:// URL", url))
        self.where = base
        self._service = Service("SearXNG", base, _SEARXNG_ACCESS, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return the hits on the first page only, usually 16 to 20."""
        params = {"q": with_sites(query), "format": "json", **_query_parameters(query)}
        answer = await self._service.json("/search", params=params, seconds=seconds)
        return searxng_hits(answer, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: all of them. Dates are widened to the past day, month or
        year. A period that starts earlier is not filtered.
        """
        return frozenset[Wish](("country", "language", "news", "time"))


def _query_parameters(query: Query) -> dict[str, str]:
    asked: dict[str, str] = {}
    if span := reach(query):
        # Some versions of SearXNG do not support the time range "week".
        asked["time_range"] = "month" if span == "week" else span
    if news_wanted(query):
        asked["categories"] = "news" if query.news else "general,news"
    if spoken := tongue(query) or (DEFAULT if query.country else ""):
        # SearXNG expects locales such as pt-BR.
        code, _, own = spoken.partition("-")
        asked["language"] = "-".join(filter(None, (code, (query.country or own).upper())))
    return asked


def searxng_hits(answer: Any, query: Query, limit: int) -> list[Hit]:
    """Parse SearXNG's hits. Raises SearchError for bad JSON, or for no hits if engines failed."""
    results = answer.get("results") if isinstance(answer, dict) else None
    if not isinstance(results, list):
        raise SearchError("SearXNG answered with JSON that contains no results.")
    silent = answer.get("unresponsive_engines")
    if not results and silent and isinstance(silent, list):
        engines = ", ".join(map(_engine, silent))[:300]
        raise SearchError(f"None of SearXNG's engines answered: {engines}.")
    fields, rows = ("url", "title", "content", "publishedDate"), []
    for r in results:
        if isinstance(r, dict):
            publisher = r.get("journal") or r.get("publisher") or r.get("source")
            url, title, text, date = map(r.get, fields)
            kind: SourceKind = "news" if r.get("category") == "news" else ""
            rows.append(Row(url, title, text, date, publisher, kind=kind))
    return number_rows(rows, SearXNG.name, query, limit)


def _engine(engine: Any) -> str:
    pair = isinstance(engine, list) and len(engine) > 1
    return f"{engine[0]} ({engine[1]})" if pair else str(engine)

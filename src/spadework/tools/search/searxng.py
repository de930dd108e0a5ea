"""Search with the user's own SearXNG server."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from spadework.errors import SearchError, SettingsError, must_be
from spadework.tools.ranking.query_operators import news_wanted, reach
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import ENGLISH, Row, number_rows, tongue, with_sites
from spadework.values import Hit, Query, SourceKind, Wish

_ACCESS = Access(mend="add json to search.formats in its settings.yml")


class SearXNG:
    """The web, through the SearXNG server at `url`.
    Raises SettingsError if it is not an http(s) URL.
    """

    name = "searxng"
    describes = "the web, through SearXNG"

    def __init__(self, url: str, *, agent: str = AGENT) -> None:
        base = url.strip().rstrip("/").removesuffix("/search")
        if not base.lower().startswith(("http://", "https://")):
            raise SettingsError(must_be("searxng_url", "an http:// or https:// URL", url))
        self.where = base
        self._service = Service("SearXNG", base, _ACCESS, agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return the first page, usually 16 to 20 results."""
        params = {"q": with_sites(query), "format": "json", **_query_parameters(query)}
        answer = await self._service.json("/search", params=params, seconds=seconds)
        return hits(answer, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: all.
        Dates become the shortest time range that contains them.
        """
        return frozenset[Wish](("country", "language", "news", "time"))


def _query_parameters(query: Query) -> dict[str, str]:
    asked: dict[str, str] = {}
    if span := reach(query):
        # some versions do not know "week"
        asked["time_range"] = "month" if span == "week" else span
    if news_wanted(query):
        asked["categories"] = "news" if query.news else "general,news"
    if spoken := tongue(query) or (ENGLISH if query.country else ""):
        # SearXNG takes the country as part of a locale, such as pt-BR.
        code, _, own = spoken.partition("-")
        asked["language"] = "-".join(filter(None, (code, (query.country or own).upper())))
    return asked


def hits(answer: Any, query: Query, limit: int) -> list[Hit]:
    """Parse SearXNG's JSON.
    Its `number_of_results` is often 0, so it is ignored. Raises SearchError for invalid JSON, or if
    there are no results because engines failed.
    """
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

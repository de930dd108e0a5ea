"""Search Wikipedia through the MediaWiki API."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any
from urllib.parse import quote

from spadework.tools.search.provider import AGENT, Service
from spadework.tools.search.result_rows import ENGLISH, Row, number_rows, plain, tongue
from spadework.tools.text.facts import moment
from spadework.values import Hit, Query, Wish


class Wikipedia:
    """Searches the Wikipedia at `url`, by default in the query's language or else in `language`."""

    name = "wikipedia"

    def __init__(self, *, language: str = "", url: str = "", agent: str = AGENT) -> None:
        self._url, self._agent, self._language = url.rstrip("/"), agent, language or ENGLISH
        self._services: dict[str, Service] = {}
        self.describes = f"Wikipedia ({language or 'in the language of the question'})"

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return articles, dated by their last edit."""
        params = {"action": "query", "list": "search", "format": "json", "formatversion": "2"}
        params |= {"srsearch": query.text, "srlimit": str(limit), "srprop": "snippet|timestamp"}
        spoken = (tongue(query) or self._language).partition("-")[0]
        base = self._url or f"https://{spoken}.wikipedia.org"
        service = self._services.setdefault(base, Service("Wikipedia", base, agent=self._agent))
        answer = await service.json("/w/api.php", params=params, seconds=seconds)
        results = service.results(answer, "query", "search")
        rows = (_row(base, r, query) for r in results if isinstance(r.get("title"), str))
        return number_rows(rows, self.name, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: language, because each has its own Wikipedia."""
        return frozenset[Wish](("language",))


def _row(base: str, result: dict[str, Any], query: Query) -> Row:
    """Convert an article to a row. An edit date after the requested dates is omitted."""
    title, stamp = result["title"], result.get("timestamp")
    day = moment(stamp)
    url = f"{base}/wiki/{quote(title.replace(' ', '_'), safe='/:(),', errors='replace')}"
    late = query.until and day and day.date() > query.until
    return Row(url, title, plain(result.get("snippet")), None if late else stamp)

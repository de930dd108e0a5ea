"""Searching Wikipedia through its MediaWiki API."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any
from urllib.parse import quote

from spadework.tools.search.result_rows import Row, number_rows, plain
from spadework.tools.search.search_filters import ENGLISH, tongue
from spadework.tools.search.service import AGENT, Service
from spadework.tools.text.dates import moment
from spadework.values import Hit, Query, Wish


class Wikipedia:
    """The Wikipedia of the language of a query, else of `language`, or the one at `url`. Wikimedia
    wants an `agent` that says who asks.
    """

    name = "wikipedia"

    def __init__(self, *, language: str = "", url: str = "", agent: str = AGENT) -> None:
        self._url, self._agent, self._language = url.rstrip("/"), agent, language or ENGLISH
        self._services: dict[str, Service] = {}
        self.describes = f"Wikipedia ({language or 'in the language of the question'})"

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Articles; their date is that of the last change. See `Provider.search`."""
        asked = {"srsearch": query.text, "srlimit": str(limit), "srprop": "snippet|timestamp"}
        params = {
            "action": "query",
            "list": "search",
            "format": "json",
            "formatversion": "2",
            **asked,
        }
        base = self._url or f"https://{self._spoken(query)}.wikipedia.org"
        service = self._services.setdefault(base, Service("Wikipedia", base, agent=self._agent))
        answer = await service.json("/w/api.php", params=params, seconds=seconds)
        rows = (
            Row(
                _article(base, r["title"]),
                r["title"],
                plain(r.get("snippet")),
                _date_of_change(r, query),
            )
            for r in service.results(answer, "query", "search")
            if isinstance(r.get("title"), str)
        )
        return number_rows(rows, self.name, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """A language: each has a Wikipedia of its own."""
        return frozenset[Wish](("language",))

    def _spoken(self, query: Query) -> str:
        return (tongue(query) or self._language).partition("-")[0]


def _article(base: str, title: str) -> str:
    return f"{base}/wiki/{quote(title.replace(' ', '_'), safe='/:(),', errors='replace')}"


def _date_of_change(result: dict[str, Any], query: Query) -> Any:
    """When an article was last changed; None where that was after the days that count: it may have
    said the same before.
    """
    stamp = result.get("timestamp")
    day = moment(stamp)
    return None if query.until and day and day.date() > query.until else stamp

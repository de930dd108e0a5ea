"""Searching Wikipedia through its MediaWiki API."""

from __future__ import annotations

from urllib.parse import quote

from spadework.tools.search.answer import AGENT, Service
from spadework.tools.search.rows import Row, numbered, plain
from spadework.values import Hit, Query


class Wikipedia:
    """The Wikipedia of a `language`, at its own address or at `url`. Wikimedia wants an `agent`
    that says who asks.
    """

    name = "wikipedia"

    def __init__(self, *, language: str = "en", url: str = "", agent: str = AGENT) -> None:
        self._url = url.rstrip("/") or f"https://{language}.wikipedia.org"
        self._service = Service("Wikipedia", self._url, agent=agent)
        self.describes = f"Wikipedia ({language})"

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
        answer = await self._service.json("/w/api.php", params=params, seconds=seconds)
        rows = (
            Row(self._article(r["title"]), r["title"], plain(r.get("snippet")), r.get("timestamp"))
            for r in self._service.results(answer, "query", "search")
            if isinstance(r.get("title"), str)
        )
        return numbered(rows, self.name, query, limit)

    def _article(self, title: str) -> str:
        return f"{self._url}/wiki/{quote(title.replace(' ', '_'), safe='/:(),', errors='replace')}"

"""Searching Google through Serper: the web, and for queries about now the news."""

from __future__ import annotations

from pydantic import SecretStr

from spadework.tools.search.answer import AGENT, Service, read_key
from spadework.tools.search.domains import with_sites
from spadework.tools.search.failure import Access
from spadework.tools.search.recency import freshness_of
from spadework.tools.search.rows import Row, numbered
from spadework.values import Freshness, Hit, Query

URL = "https://google.serper.dev"
_MOST = 100
#: Google's own names for the past month and the past year.
_RANGES: dict[Freshness, str] = {"now": "qdr:m", "recent": "qdr:y"}


class Serper:
    """The web, through Serper. `language` is that of Google's pages (`hl`), such as "en"."""

    name = "serper"
    describes = "the web, through Serper"

    def __init__(
        self, key: SecretStr | None, *, url: str = URL, language: str = "en", agent: str = AGENT
    ) -> None:
        secret = read_key(key, "SERPER_API_KEY")
        access = Access({"X-API-KEY": secret}, secret, "check SERPER_API_KEY (or SERP_API_KEY)")
        self._service = Service("Serper", url, access, agent)
        self._language = language

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """At most 100 results; for questions about now the news of the past month. See
        `Provider.search`.
        """
        fresh = freshness_of(query)
        path, listed = ("/news", "news") if fresh == "now" else ("/search", "organic")
        body = {"q": with_sites(query), "num": min(limit, _MOST), "hl": self._language}
        body |= {"tbs": _RANGES[fresh]} if fresh in _RANGES else {}
        results = self._service.results(
            await self._service.json(path, body=body, seconds=seconds), listed
        )
        return numbered(
            (Row(r.get("link"), r.get("title"), r.get("snippet"), r.get("date")) for r in results),
            self.name,
            query,
            limit,
        )

"""Searching the web through the API of Brave Search."""

from __future__ import annotations

from pydantic import SecretStr

from spadework.tools.search.answer import AGENT, Service, read_key
from spadework.tools.search.failure import Access
from spadework.tools.search.recency import about_now
from spadework.tools.search.rows import Row, numbered, plain
from spadework.values import Hit, Query

URL = "https://api.search.brave.com/res/v1"
_MOST = 20
#: Longer queries are refused.
_QUERY_WORDS, _QUERY_CHARS = 50, 400


class Brave:
    """The web, through Brave."""

    name = "brave"
    describes = "the web, through Brave"

    def __init__(self, key: SecretStr | None, *, url: str = URL, agent: str = AGENT) -> None:
        secret = read_key(key, "BRAVE_API_KEY")
        self._service = Service("Brave", url, Access({"X-Subscription-Token": secret}, secret, "check BRAVE_API_KEY"), agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """At most 20 results, for queries about now those of the past month. See `Provider.search`."""
        asked = " ".join(query.text.split()[:_QUERY_WORDS])[:_QUERY_CHARS]
        params = {"q": asked, "count": str(min(limit, _MOST)), "result_filter": "web", "text_decorations": "false"}
        params |= {"freshness": "pm"} if about_now(query.text) else {}
        answer = await self._service.json("/web/search", params=params, seconds=seconds)
        if isinstance(answer, dict) and answer.get("type") == "search" and "web" not in answer:
            return []  # Brave leaves out what it has nothing for
        rows = (
            Row(r.get("url"), plain(r.get("title")), plain(r.get("description")), r.get("page_age"))
            for r in self._service.results(answer, "web", "results")
        )
        return numbered(rows, self.name, query, limit)

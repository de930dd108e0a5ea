"""Searching the web through the API of Brave Search."""

from __future__ import annotations

from pydantic import SecretStr

from spadework.tools.search.answer import AGENT, Service, read_key
from spadework.tools.search.domains import with_sites
from spadework.tools.search.failure import Access
from spadework.tools.search.recency import freshness_of
from spadework.tools.search.rows import Row, numbered, plain
from spadework.values import Freshness, Hit, Query

URL = "https://api.search.brave.com/res/v1"
_MOST = 20
#: Longer queries are refused.
_QUERY_WORDS, _QUERY_CHARS = 50, 400
#: Pages found in the past month and in the past year.
_RANGES: dict[Freshness, str] = {"now": "pm", "recent": "py"}


class Brave:
    """The web, through Brave."""

    name = "brave"
    describes = "the web, through Brave"

    def __init__(self, key: SecretStr | None, *, url: str = URL, agent: str = AGENT) -> None:
        secret = read_key(key, "BRAVE_API_KEY")
        self._service = Service(
            "Brave",
            url,
            Access({"X-Subscription-Token": secret}, secret, "check BRAVE_API_KEY"),
            agent,
        )

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """At most 20 results, for queries about now those of the past month. See
        `Provider.search`.
        """
        sites = with_sites(query, " ").split()
        words = query.text.split()[: max(1, _QUERY_WORDS - len(sites))]
        asked = " ".join([" ".join(words)[: _QUERY_CHARS - len(" ".join(sites)) - 1], *sites])
        params = {
            "q": asked,
            "count": str(min(limit, _MOST)),
            "result_filter": "web",
            "text_decorations": "false",
        }
        fresh = freshness_of(query)
        params |= {"freshness": _RANGES[fresh]} if fresh in _RANGES else {}
        answer = await self._service.json("/web/search", params=params, seconds=seconds)
        if isinstance(answer, dict) and answer.get("type") == "search" and "web" not in answer:
            return []  # Brave leaves out what it has nothing for
        rows = (
            Row(r.get("url"), plain(r.get("title")), plain(r.get("description")), r.get("page_age"))
            for r in self._service.results(answer, "web", "results")
        )
        return numbered(rows, self.name, query, limit)

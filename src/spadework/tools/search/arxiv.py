"""Search arXiv's preprints through its Atom API."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import date

import lxml.etree as etree

from spadework.errors import QuotaSpent, SearchError
from spadework.tools.ranking.query_operators import period
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.search.provider import AGENT, Service
from spadework.tools.search.result_rows import Row, number_rows
from spadework.values import Hit, Query, Wish

URL = "https://export.arxiv.org/api"
_FIRST, _LAST = date(1990, 1, 1), date(2999, 12, 31)
_ATOM = "{http://www.w3.org/2005/Atom}"


class Arxiv:
    """Preprints from arXiv."""

    name = "arxiv"
    describes = "preprints, through arXiv"

    def __init__(self, *, url: str = URL, agent: str = AGENT) -> None:
        self._service = Service("arXiv", url, agent=agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return preprints with any of the terms and their abstracts, by relevance.
        Sorting by date would rank weak matches first.
        """
        terms = query_terms(query.text) or query.text.replace('"', " ").split()
        asked = " OR ".join(f'all:"{term}"' for term in terms)
        first, last = period(query)
        begin, end = f"{first or _FIRST:%Y%m%d}0000", f"{last or _LAST:%Y%m%d}2359"
        asked = f"({asked}) AND submittedDate:[{begin} TO {end}]" if first or last else asked
        params = {
            "search_query": asked,
            "start": "0",
            "max_results": str(limit),
            "sortBy": "relevance",
            "sortOrder": "descending",
        }
        feed = await self._service.content("/query", params=params, seconds=seconds)
        return number_rows(rows(feed), self.name, query, limit, "paper")

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: submission dates."""
        return frozenset[Wish](("time",))


def rows(feed: bytes) -> list[Row]:
    """Parse an Atom feed without resolving entities.
    Raises SearchError for an incomplete feed or an error from arXiv, and QuotaSpent after too many
    requests.
    """
    if feed.lstrip()[:40].lower().startswith(b"rate exceeded"):
        raise QuotaSpent("arXiv received too many requests.", busy=True)
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, recover=False
    )
    try:
        root = etree.fromstring(feed, parser)
    except etree.XMLSyntaxError:
        raise SearchError("arXiv did not return a complete Atom feed.") from None
    if root.tag != f"{_ATOM}feed" or root.getroottree().docinfo.internalDTD is not None:
        raise SearchError("arXiv did not return an Atom feed.")
    found = [_row(entry) for entry in root.iterfind(f"{_ATOM}entry")]
    if found and "/api/errors" in found[0].url:
        why = str(found[0].snippet)[:200].rstrip(".") or "no reason given"
        raise SearchError(f"arXiv could not answer: {why}.")
    return found


def _row(entry: etree._Element) -> Row:
    texts = {
        name: " ".join((entry.findtext(_ATOM + name) or "").split())
        for name in ("id", "title", "summary", "published")
    }
    url = texts["id"].replace("http://arxiv.org/", "https://arxiv.org/", 1)
    return Row(url, texts["title"], texts["summary"], texts["published"])

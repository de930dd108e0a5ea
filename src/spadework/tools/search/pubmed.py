"""Search PubMed (NCBI E-utilities), first for ids and then for their records."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from datetime import date
from typing import Any

from spadework.errors import SearchError
from spadework.tools.ranking.query_operators import DAYS, freshness_of, is_dated
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.search.provider import AGENT, Service
from spadework.tools.search.result_rows import PUBMED_LANGUAGES, Row, number_rows, plain
from spadework.values import Hit, Query, Wish

URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
PAGE = "https://pubmed.ncbi.nlm.nih.gov/"
_AUTHORS = 3
_FIRST, _LAST = date(1800, 1, 1), date(2999, 12, 31)


class PubMed:
    """Medical literature, through PubMed."""

    name = "pubmed"
    describes = "medical literature, through PubMed"

    def __init__(self, *, url: str = URL, agent: str = AGENT) -> None:
        self._service = Service("PubMed", url, agent=agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return articles by relevance. Their snippets hold authors, journal and date."""
        try:
            async with asyncio.timeout(seconds):
                ids = await self._ids(query, limit, seconds)
                found = await self._get("esummary", seconds, id=",".join(ids)) if ids else {}
        except TimeoutError:
            raise self._service.deadline_error(seconds) from None
        return number_rows(self._rows(ids, found), self.name, query, limit, "paper")

    async def _ids(self, query: Query, limit: int, seconds: float) -> list[str]:
        # PubMed requires every word, even stop words.
        term = " ".join(query_terms(query.text)) or query.text
        # The question's own language is no filter here, since most articles are in English.
        if spoken := PUBMED_LANGUAGES.get(query.language.partition("-")[0]):
            term = f"({term}) AND {spoken}[la]"
        answer = await self._get(
            "esearch", seconds, term=term, retmax=str(limit), sort="relevance", **_span(query)
        )
        numbers = self._service.listed(answer, "esearchresult", "idlist")
        return [number for number in numbers if isinstance(number, str) and number.isdecimal()]

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: publication date, and the languages that PubMed knows."""
        known = query.language.partition("-")[0] in PUBMED_LANGUAGES
        return frozenset[Wish](("time", *(("language",) if known else ())))

    async def _get(self, tool: str, seconds: float, **asked: str) -> Any:
        return await self._service.json(
            f"/{tool}.fcgi", params={"db": "pubmed", "retmode": "json", **asked}, seconds=seconds
        )

    def _rows(self, ids: list[str], found: Any) -> Iterator[Row]:
        articles = found.get("result") if isinstance(found, dict) else None
        if ids and not isinstance(articles, dict):
            raise SearchError("PubMed did not return the records that it found.")
        for number in ids:
            article = articles.get(number) if articles else None
            if isinstance(article, dict) and article.get("title"):
                # titles contain escaped tags such as &lt;i&gt;
                title = plain(plain(article["title"]))
                journal = article.get("fulljournalname") or article.get("source")
                date = article.get("sortpubdate")
                yield Row(f"{PAGE}{number}/", title, _about(article), date, journal)


def _span(query: Query) -> dict[str, str]:
    if is_dated(query):
        first, last = query.since or _FIRST, query.until or _LAST
        return {"datetype": "pdat", "mindate": f"{first:%Y/%m/%d}", "maxdate": f"{last:%Y/%m/%d}"}
    days = DAYS.get(freshness_of(query))
    return {"datetype": "pdat", "reldate": str(days)} if days else {}


def _about(article: dict[str, Any]) -> str:
    given = article.get("authors")
    listed = given if isinstance(given, list) else []
    names = [plain(author.get("name")) for author in listed if isinstance(author, dict)]
    authors = ", ".join(names[:_AUTHORS]) + (" et al." if len(names) > _AUTHORS else "")
    parts = (authors, plain(article.get("fulljournalname")), plain(article.get("pubdate")))
    return ". ".join(part.rstrip(".") for part in parts if part)

"""Search PubMed, OpenAlex, arXiv and Wikipedia."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Set as AbstractSet
from datetime import date
from typing import Any
from urllib.parse import quote

import lxml.etree as etree
from pydantic import SecretStr

from spadework.errors import QuotaSpent, SearchError
from spadework.tools.ranking.query_operators import DAYS, freshness_of, is_dated, period
from spadework.tools.ranking.relevance import query_terms
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import PUBMED_LANGUAGES, Row, number_rows, plain, tongue
from spadework.tools.text.facts import moment
from spadework.tools.text.language import DEFAULT, ENGLISH
from spadework.tools.web.connections import read_key
from spadework.values import Hit, Query, Wish

PUBMED_URL = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
PUBMED_PAGE = "https://pubmed.ncbi.nlm.nih.gov/"
_MOST_AUTHORS = 3
_PUBMED_FIRST, _PUBMED_LAST = date(1800, 1, 1), date(2999, 12, 31)


class PubMed:
    """Searches medical literature in PubMed (NCBI E-utilities)."""

    name = "pubmed"
    describes = ENGLISH("scope_medicine", service="PubMed")

    def __init__(self, *, url: str = PUBMED_URL, agent: str = AGENT) -> None:
        self._service = Service("PubMed", url, agent=agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return articles, most relevant first."""
        try:
            async with asyncio.timeout(seconds):
                ids = await self._ids(query, limit, seconds)
                found = await self._get("esummary", seconds, id=",".join(ids)) if ids else {}
        except TimeoutError:
            raise self._service.deadline_error(seconds) from None
        return number_rows(self._rows(ids, found), self.name, query, limit, "paper")

    async def _ids(self, query: Query, limit: int, seconds: float) -> list[str]:
        # Drop stop words, because PubMed requires every word of a query to match.
        term = " ".join(query_terms(query.text)) or query.text
        # Do not filter by `asked_in`, the question's language, because most articles are in
        # English.
        if spoken := PUBMED_LANGUAGES.get(query.language.partition("-")[0]):
            term = f"({term}) AND {spoken}[la]"
        answer = await self._get(
            "esearch",
            seconds,
            term=term,
            retmax=str(limit),
            sort="relevance",
            **_pubmed_span(query),
        )
        numbers = self._service.listed(answer, "esearchresult", "idlist")
        return [number for number in numbers if isinstance(number, str) and number.isdecimal()]

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: dates, and the language if PubMed knows it."""
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
                # Titles contain escaped tags such as &lt;i&gt;.
                title = plain(plain(article["title"]))
                journal = article.get("fulljournalname") or article.get("source")
                date = article.get("sortpubdate")
                yield Row(f"{PUBMED_PAGE}{number}/", title, _about(article), date, journal)


def _pubmed_span(query: Query) -> dict[str, str]:
    if is_dated(query):
        first, last = query.since or _PUBMED_FIRST, query.until or _PUBMED_LAST
        return {"datetype": "pdat", "mindate": f"{first:%Y/%m/%d}", "maxdate": f"{last:%Y/%m/%d}"}
    days = DAYS.get(freshness_of(query))
    return {"datetype": "pdat", "reldate": str(days)} if days else {}


def _about(article: dict[str, Any]) -> str:
    given = article.get("authors")
    listed = given if isinstance(given, list) else []
    names = [plain(author.get("name")) for author in listed if isinstance(author, dict)]
    authors = ", ".join(names[:_MOST_AUTHORS]) + (" et al." if len(names) > _MOST_AUTHORS else "")
    parts = (authors, plain(article.get("fulljournalname")), plain(article.get("pubdate")))
    return ". ".join(part.rstrip(".") for part in parts if part)


OPENALEX_URL = "https://api.openalex.org"
_OPENALEX_MOST = 100
_OPENALEX_FIELDS = "id,doi,display_name,publication_date,abstract_inverted_index,primary_location"


class OpenAlex:
    """Searches scholarly works in OpenAlex, which allows few searches a day without a key."""

    name = "openalex"
    describes = ENGLISH("scope_works", service="OpenAlex")

    def __init__(
        self, key: SecretStr | None = None, *, url: str = OPENALEX_URL, agent: str = AGENT
    ) -> None:
        secret = read_key(key, "OPENALEX_API_KEY") if key else ""
        access = Access({}, secret, f"{'check' if key else 'set'} OPENALEX_API_KEY")
        self._service = Service("OpenAlex", url, access, agent)
        self._key = {"api_key": secret} if secret else {}

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most 100 works with their abstracts."""
        params = {
            "search": query.text,
            "per_page": str(min(limit, _OPENALEX_MOST)),
            "select": _OPENALEX_FIELDS,
        }
        first, last = period(query)
        wishes = {
            "from_publication_date": first.isoformat() if first else "",
            "to_publication_date": last.isoformat() if last else "",
            # Do not filter by `asked_in`, the question's language, because most works are in
            # English.
            "language": query.language.partition("-")[0],
        }
        asked = ",".join(f"{name}:{wish}" for name, wish in wishes.items() if wish)
        params |= self._key | ({"filter": asked} if asked else {})
        answer = await self._service.json("/works", params=params, seconds=seconds)
        works = self._service.results(answer, "results")
        return number_rows(map(_work_row, works), self.name, query, limit, "paper")

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: language and publication date."""
        return frozenset[Wish](("language", "time"))


def _work_row(work: dict[str, Any]) -> Row:
    place = work.get("primary_location")
    page = place.get("landing_page_url") if isinstance(place, dict) else None
    journal = place.get("source") if isinstance(place, dict) else None
    abstract = _abstract(work.get("abstract_inverted_index"))
    return Row(
        page or work.get("doi") or work.get("id"),
        plain(work.get("display_name")),
        abstract,
        work.get("publication_date"),
        journal.get("display_name") if isinstance(journal, dict) else "",
    )


def _abstract(index: Any) -> str:
    if not isinstance(index, dict):
        return ""
    places = [
        (place, word)
        for word, where in index.items()
        if isinstance(where, list)
        for place in where
        if isinstance(place, int)
    ]
    return plain(" ".join(word for _, word in sorted(places)))


ARXIV_URL = "https://export.arxiv.org/api"
_ARXIV_FIRST, _ARXIV_LAST = date(1990, 1, 1), date(2999, 12, 31)
_ATOM = "{http://www.w3.org/2005/Atom}"


class Arxiv:
    """Searches preprints on arXiv."""

    name = "arxiv"
    describes = ENGLISH("scope_preprints", service="arXiv")

    def __init__(self, *, url: str = ARXIV_URL, agent: str = AGENT) -> None:
        self._service = Service("arXiv", url, agent=agent)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return preprints that contain any of the query's terms, most relevant first."""
        terms = query_terms(query.text) or query.text.replace('"', " ").split()
        asked = " OR ".join(f'all:"{term}"' for term in terms)
        first, last = period(query)
        begin, end = f"{first or _ARXIV_FIRST:%Y%m%d}0000", f"{last or _ARXIV_LAST:%Y%m%d}2359"
        asked = f"({asked}) AND submittedDate:[{begin} TO {end}]" if first or last else asked
        params = {
            "search_query": asked,
            "start": "0",
            "max_results": str(limit),
            "sortBy": "relevance",
            "sortOrder": "descending",
        }
        feed = await self._service.content("/query", params=params, seconds=seconds)
        return number_rows(arxiv_rows(feed), self.name, query, limit, "paper")

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: submission dates."""
        return frozenset[Wish](("time",))


def arxiv_rows(feed: bytes) -> list[Row]:
    """Parse arXiv's Atom feed into rows. Raises QuotaSpent if arXiv received too many requests, and
    SearchError if the feed is invalid or reports an error.
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
    found = [_preprint_row(entry) for entry in root.iterfind(f"{_ATOM}entry")]
    if found and "/api/errors" in found[0].url:
        why = str(found[0].snippet)[:200].rstrip(".") or "no reason given"
        raise SearchError(f"arXiv could not answer: {why}.")
    return found


def _preprint_row(entry: etree._Element) -> Row:
    texts = {
        name: " ".join((entry.findtext(_ATOM + name) or "").split())
        for name in ("id", "title", "summary", "published")
    }
    url = texts["id"].replace("http://arxiv.org/", "https://arxiv.org/", 1)
    return Row(url, texts["title"], texts["summary"], texts["published"])


class Wikipedia:
    """Searches the Wikipedia at `url`. Without `url`, searches the edition in the query's language,
    or in `language` if the query's language is unknown.
    """

    name = "wikipedia"

    def __init__(self, *, language: str = "", url: str = "", agent: str = AGENT) -> None:
        self._url, self._agent, self._language = url.rstrip("/"), agent, language or DEFAULT
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
        rows = (_article_row(base, r, query) for r in results if isinstance(r.get("title"), str))
        return number_rows(rows, self.name, query, limit)

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: language only."""
        return frozenset[Wish](("language",))


def _article_row(base: str, result: dict[str, Any], query: Query) -> Row:
    title, stamp = result["title"], result.get("timestamp")
    day = moment(stamp)
    url = f"{base}/wiki/{quote(title.replace(' ', '_'), safe='/:(),', errors='replace')}"
    late = query.until and day and day.date() > query.until
    return Row(url, title, plain(result.get("snippet")), None if late else stamp)

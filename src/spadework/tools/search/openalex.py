"""Search OpenAlex, a catalogue of scholarly works."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from typing import Any

from pydantic import SecretStr

from spadework.tools.ranking.query_operators import period
from spadework.tools.search.provider import AGENT, Access, Service
from spadework.tools.search.result_rows import Row, number_rows, plain
from spadework.tools.web.connections import read_key
from spadework.values import Hit, Query, Wish

URL = "https://api.openalex.org"
_MOST = 100
_FIELDS = "id,doi,display_name,publication_date,abstract_inverted_index,primary_location"


class OpenAlex:
    """Scholarly works, through OpenAlex. Without a key, it allows a few searches a day."""

    name = "openalex"
    describes = "scholarly works, through OpenAlex"

    def __init__(self, key: SecretStr | None = None, *, url: str = URL, agent: str = AGENT) -> None:
        secret = read_key(key, "OPENALEX_API_KEY") if key else ""
        access = Access({}, secret, f"{'check' if key else 'set'} OPENALEX_API_KEY")
        self._service = Service("OpenAlex", url, access, agent)
        self._key = {"api_key": secret} if secret else {}

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        """Return at most 100 works with their abstracts."""
        params = {"search": query.text, "per_page": str(min(limit, _MOST)), "select": _FIELDS}
        first, last = period(query)
        wishes = {
            "from_publication_date": first.isoformat() if first else "",
            "to_publication_date": last.isoformat() if last else "",
            # The question's own language is no filter here, since most works are in English.
            "language": query.language.partition("-")[0],
        }
        asked = ",".join(f"{name}:{wish}" for name, wish in wishes.items() if wish)
        params |= self._key | ({"filter": asked} if asked else {})
        answer = await self._service.json("/works", params=params, seconds=seconds)
        works = self._service.results(answer, "results")
        return number_rows(map(_row, works), self.name, query, limit, "paper")

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Return the supported filters: language and publication date."""
        return frozenset[Wish](("language", "time"))


def _row(work: dict[str, Any]) -> Row:
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

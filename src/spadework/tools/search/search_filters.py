"""What a search wishes of its results, and which provider can keep to it; else hits are left out
where that can be told (domains, dates), and that is said where it cannot.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from datetime import UTC
from typing import Protocol, runtime_checkable

from spadework.settings import Settings
from spadework.tools.search.domain_filter import is_wanted
from spadework.tools.search.provider import Provider
from spadework.tools.text.detect import language_of
from spadework.values import Hit, Query, Wish

#: What engines assume of a query that names no language.
ENGLISH = "en"
_WORDS: dict[Wish, str] = {
    "country": "a country",
    "language": "a language",
    "news": "news",
    "time": "a time",
}


@runtime_checkable
class Meeting(Protocol):
    """A provider that can keep to wishes."""

    def meets(self, query: Query) -> AbstractSet[Wish]:
        """Those of a query's wishes that its service is asked for."""
        ...


def add_filters(query: Query, settings: Settings, question: str = "") -> Query:
    """The query with the settings' wishes where it has none, and the language of its `question`.
    Its domains narrow those of the settings.
    """
    inside = settings.search_sites
    only = Query(text="", include_domains=inside)
    within = tuple(site for site in query.include_domains if is_wanted(only, f"https://{site}/"))
    outside = (*query.exclude_domains, *settings.search_avoid_sites)
    spoken = language_of(question)
    return query.model_copy(
        update={
            "country": query.country or settings.search_country,
            "language": query.language or settings.search_language,
            "asked_in": query.asked_in or ("" if spoken == ENGLISH else spoken),
            "news": query.news or settings.search_news,
            "since": query.since or settings.search_since,
            "until": query.until or settings.search_until,
            "include_domains": within or inside,
            "exclude_domains": tuple(dict.fromkeys(outside)),
        }
    )


def tongue(query: Query) -> str:
    """The language in which engines of the web should look first: the one that is wished, else that
    of the question where these words are not in another; "" where they should do as they do.
    """
    if query.language or not query.asked_in:
        return query.language
    return query.asked_in if language_of(query.text) in ("", query.asked_in) else ""


def filters_of(query: Query) -> frozenset[Wish]:
    """What a query wishes that not every provider can keep to."""
    there: dict[Wish, bool] = {
        "country": bool(query.country),
        "language": bool(query.language),
        "news": query.news,
        "time": bool(query.since or query.until),
    }
    return frozenset(wish for wish, is_there in there.items() if is_there)


def fits(query: Query, hit: Hit) -> bool:
    """Whether a hit is within a query's domains and not dated outside its days: without a date it
    may be.
    """
    if not is_wanted(query, hit.url):
        return False
    if not hit.published_at:
        return True
    day = hit.published_at.astimezone(UTC).date()
    return (not query.since or day >= query.since) and (not query.until or day <= query.until)


class Unmet:
    """The wishes of a run that a provider cannot keep to."""

    def __init__(self) -> None:
        self._asked: dict[str, tuple[Provider, Query]] = {}
        self._said: set[str] = set()

    def add(self, provider: Provider, query: Query) -> None:
        """A provider is asked a query."""
        if filters_of(query):
            self._asked[provider.name] = provider, query

    def sentences(self) -> tuple[str, ...]:
        """A sentence for each provider that was wished what it cannot do."""
        said = (_sentence(*asked) for _, asked in sorted(self._asked.items()))
        return tuple(filter(None, said))

    def news(self) -> tuple[str, ...]:
        """The sentences that were not said here before."""
        fresh = [sentence for sentence in self.sentences() if sentence not in self._said]
        self._said.update(fresh)
        return tuple(fresh)


def _sentence(provider: Provider, query: Query) -> str:
    met = provider.meets(query) if isinstance(provider, Meeting) else frozenset[Wish]()
    left = filters_of(query) - met
    if not left:
        return ""
    named = " or ".join(words for wish, words in _WORDS.items() if wish in left)
    rest = "its results are as without that wish" if left - {"time"} else ""
    dated = "of its results those dated outside it are left out" if "time" in left else ""
    how = ", and ".join(filter(None, (rest, dated)))
    return f"{provider.name} cannot be asked for {named}: {how}."

"""What a search wishes reaches every service that has a word for it; of the others hits are left
out where that can be told, and it is said where it cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from spadework.errors import SettingsError
from spadework.settings import Settings
from spadework.tools.ranking.query_operators import reach
from spadework.tools.search.duckduckgo import DuckDuckGo
from spadework.tools.search.failover import Search
from spadework.tools.search.provider import Provider
from spadework.tools.search.result_rows import add_filters, region, tongue
from spadework.tools.search.scholarly import Wikipedia
from spadework.tools.search.web_services import Brave, SearXNG
from spadework.values import Hit, Query
from tests.tools.search.asking import ask_all
from tests.tools.search.services import Services
from tests.tools.search.test_providers import MAKE, SECRET, ask
from tests.world.searx import Searx

FIRST, LAST = date(2026, 1, 2), date(2026, 3, 31)
TEXT = "census"
LOCAL = Query(text=TEXT, country="de", language="de")
DATED = Query(text=TEXT, since=FIRST, until=LAST)
NEWS = Query(text=TEXT, news=True)
_YEARS = "submittedDate:[202601020000 TO 202603312359]"

#: What each service is asked: by the name of the wish, its parameters; None for those that have no
#: word for it, which is said.
ASKED: dict[str, dict[str, dict[str, Any] | None]] = {
    "serper": {
        "local": {"gl": "de", "hl": "de"},
        "dated": {"tbs": "cdr:1,cd_min:1/2/2026,cd_max:3/31/2026"},
        "news": {"path": "/news"},
    },
    "tavily": {
        "local": None,
        "dated": {"start_date": "2026-01-02", "end_date": "2026-03-31"},
        "news": {"topic": "news"},
    },
    "brave": {
        "local": {"country": "DE", "search_lang": "de"},
        "dated": {"freshness": "2026-01-02to2026-03-31"},
        "news": {"path": "/news/search"},
    },
    "wikipedia": {"local": None, "dated": None, "news": None},
    "arxiv": {
        "local": None,
        "dated": {"search_query": f'(all:"census") AND {_YEARS}'},
        "news": None,
    },
    "openalex": {
        "local": None,
        "dated": {"filter": "from_publication_date:2026-01-02,to_publication_date:2026-03-31"},
        "news": None,
    },
    "pubmed": {
        "local": None,
        "dated": {"datetype": "pdat", "mindate": "2026/01/02", "maxdate": "2026/03/31"},
        "news": None,
    },
}
WISHES = {"local": LOCAL, "dated": DATED, "news": NEWS}


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("wish", WISHES)
async def test_a_wish_reaches_the_service_or_is_said_not_to(
    services: Services, name: str, wish: str
):
    search = Search([MAKE[name](services.url(name))])
    await ask_all(search, WISHES[wish], limit=5, seconds=5)
    expected = ASKED[name][wish]
    asked = services.requests[0]
    if expected is None:
        (said,) = search.unmet.sentences()
        assert said.startswith(f"{name} cannot filter by ")
    else:
        args = {**asked.args, "path": asked.path}
        assert {key: args[key] for key in expected} == expected
        assert search.unmet.sentences() == ()
    await ask(services, name, Query(text=TEXT))
    plain = services.requests[-1 if name != "pubmed" else -2]
    assert not {"gl", "country", "search_lang", "tbs", "freshness", "filter"} & plain.args.keys()


@pytest.mark.parametrize("name", ["serper", "tavily", "brave"])
async def test_what_a_search_of_news_finds_is_news(services: Services, name: str):
    kinds = [{hit.kind for hit in await ask(services, name, asked)} for asked in (NEWS, LOCAL)]
    assert kinds == [{"news"}, {""}]


async def test_what_is_half_kept_is_half_said(services: Services):
    tavily, wikipedia = (MAKE[name](services.url(name)) for name in ("tavily", "wikipedia"))
    search = Search([tavily, wikipedia])
    await ask_all(search, LOCAL, limit=5, seconds=5)
    assert {request.args.get("country") for request in services.requests} == {"germany", None}
    assert search.unmet.sentences() == (
        "tavily cannot filter by a language: its results may not match.",
        "wikipedia cannot filter by a country: its results may not match.",
    )
    assert search.unmet.news() == search.unmet.sentences()
    assert search.unmet.news() == ()


async def test_a_country_that_brave_does_not_know_is_not_asked_for(services: Services):
    brave = Brave(SECRET, url=services.url("brave"))
    search = Search([brave])
    await ask_all(search, Query(text=TEXT, country="is", language="cy"), limit=5, seconds=5)
    assert not {"country", "search_lang"} & services.requests[0].args.keys()
    assert search.unmet.sentences() == (
        "brave cannot filter by a country or a language: its results may not match.",
    )


async def test_literature_is_kept_to_a_language_that_is_wished_and_not_to_that_of_the_question(
    services: Services,
):
    for query in (LOCAL, Query(text=TEXT, asked_in="de")):
        await ask(services, "openalex", query)
        await ask(services, "pubmed", query)
    wished_of, terms, _, asked_in, plain, _ = (request.args for request in services.requests)
    assert (wished_of["filter"], terms["term"]) == ("language:de", "(census) AND german[la]")
    assert ("filter" in asked_in, plain["term"]) == (False, "census")


async def test_searxng_gets_a_locale_a_category_and_a_range(searx: Searx):
    provider = SearXNG(searx.url)
    today = datetime.now(UTC).date()
    for query, expected in (
        (LOCAL, {"language": "de-DE"}),
        (Query(text=TEXT, language="pt-br"), {"language": "pt-BR"}),
        (Query(text=TEXT, country="gb"), {"language": "en-GB"}),
        (NEWS, {"categories": "news"}),
        (Query(text=TEXT, since=today - timedelta(days=200)), {"time_range": "year"}),
        (Query(text=TEXT, since=today - timedelta(days=900)), {}),
    ):
        await provider.search(query, limit=5, seconds=5)
        params = searx.requests[-1].args
        assert {
            key: params[key] for key in ("language", "categories", "time_range") if key in params
        } == expected


def test_the_shortest_range_that_holds_the_days_is_asked_for():
    today = date(2026, 5, 20)
    spans = [(0, "day"), (1, "week"), (6, "week"), (30, "month"), (365, "year"), (366, None)]
    for days, span in spans:
        assert reach(Query(text="x", since=today - timedelta(days=days)), today) == span
    assert reach(Query(text="x", until=today), today) is None


@pytest.mark.parametrize(
    ("country", "language", "place"),
    [
        ("", "", ""),
        ("ch", "fr", "ch-fr"),
        ("ch", "", "ch-de"),
        ("gb", "", "uk-en"),
        ("", "ja", "jp-jp"),
        ("", "de", "de-de"),
        ("", "sv", "se-sv"),
        ("", "cy", ""),
        ("zw", "en", ""),
    ],
)
def test_duckduckgo_has_regions(country: str, language: str, place: str):
    assert region(country, language) == place


def test_duckduckgo_says_what_its_regions_cannot_hold():
    provider = DuckDuckGo()
    assert provider.meets(Query(text="x", country="ch", language="it")) >= {"country", "language"}
    assert "language" not in provider.meets(Query(text="x", country="ch", language="en"))
    assert not provider.meets(Query(text="x", country="zw", language="sn")) - {"news", "time"}


class Shelf:
    """A provider of one's own, which knows no wish."""

    name = "shelf"
    describes = "a shelf"

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._hits = list(hits)

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        return self._hits


async def test_what_is_dated_outside_the_days_is_left_out_whoever_found_it():
    def at(name: str, day: int | None) -> Hit:
        published = datetime(2026, 4, day, tzinfo=UTC) if day else None
        return Hit(url=f"https://{name}.example/", published_at=published)

    hits = [at("early", 1), at("first", 2), at("last", 3), at("late", 4), at("undated", None)]
    provider: Provider = Shelf(hits)
    search = Search([provider])
    query = Query(text="x", since=date(2026, 4, 2), until=date(2026, 4, 3))
    ((_, found),) = await ask_all(search, query, limit=5, seconds=5)
    assert isinstance(found, list)
    assert [hit.url[8:].partition(".")[0] for hit in found] == ["first", "last", "undated"]
    assert search.unmet.sentences() == (
        "shelf cannot filter by a time: results outside the requested time are left out.",
    )


async def test_an_article_that_was_changed_since_may_have_said_it_before(services: Services):
    wikipedia = MAKE["wikipedia"](services.url("wikipedia"))
    query = Query(text=TEXT, until=date(2025, 6, 1))
    ((_, found),) = await ask_all(Search([wikipedia]), query, limit=5, seconds=5)
    assert isinstance(found, list)
    assert [hit.published_at and hit.published_at.year for hit in found] == [None, 2025]


async def test_a_shelf_of_the_library_can_be_kept_to():
    hits = [Hit(url="library://notes/2026/a.md"), Hit(url="library://notes/2025/b.md")]
    query = Query(text="x", include_domains=("library://notes/2026",))
    ((_, found),) = await ask_all(Search([Shelf(hits)]), query, limit=5, seconds=5)
    assert isinstance(found, list)
    assert [hit.url for hit in found] == ["library://notes/2026/a.md"]


async def test_wikipedia_is_that_of_the_question(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []

    async def json(self: Any, path: str, **_: Any) -> Any:
        asked.append(self._url)
        return {"query": {"search": []}}

    monkeypatch.setattr("spadework.tools.search.scholarly.Service.json", json)
    german = Query(text="Port Aldermere", asked_in="de")
    for query in (german, german.model_copy(update={"language": "fr"}), Query(text="x")):
        await Wikipedia().search(query, limit=1, seconds=1)
    assert [url[8:10] for url in asked] == ["de", "fr", "en"]


def test_the_language_of_the_question_counts_unless_the_words_are_in_another():
    german = "Wie viele Menschen wohnen in Port Aldermere?"
    made = add_filters(Query(text="Port Aldermere Einwohner"), Settings.load(), german)
    assert (made.asked_in, tongue(made)) == ("de", "de")
    assert tongue(add_filters(Query(text="what is the census"), Settings.load(), german)) == ""
    english = add_filters(Query(text="census"), Settings.load(), "How many people live there?")
    assert english == Query(text="census")
    asked = add_filters(Query(text="x"), Settings.load(search_language="fr"), german)
    assert tongue(asked) == "fr"


def test_the_domains_of_the_settings_are_narrowed_and_never_widened():
    settings = Settings.load(search_sites="example.org, b.example", search_avoid_sites="c.example")
    inside = Query(text="x", include_domains=("docs.example.org", "else.example"))
    made = add_filters(inside, settings)
    assert (made.include_domains, made.exclude_domains) == (("docs.example.org",), ("c.example",))
    outside = add_filters(Query(text="x", include_domains=("else.example",)), settings)
    assert outside.include_domains == ("example.org", "b.example")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"search_country": "germany"},
            "search_country must be the two letters of a country, such as de or us, not 'germany'",
        ),
        ({"search_since": "yesterday"}, "search_since must be a date, YYYY-MM-DD, not 'yesterday'"),
        ({"search_sites": "example.org,nonsense"}, "search_sites must be a domain such"),
        (
            {"search_since": "2026-02-01", "search_until": "2026-01-01"},
            r"search_until must be no earlier than search_since \(2026-02-01\), not ",
        ),
        ({"min_relevance": "1.5"}, "min_relevance must be at most 1, not '1.5'"),
    ],
)
def test_a_wish_that_cannot_be_is_refused_in_one_sentence(given: dict[str, str], words: str):
    with pytest.raises(SettingsError, match=words) as caught:
        Settings.load(**given)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


PUBLISHERS = {
    "serper": "Aldermere Herald",
    "brave": "Aldermere Herald",
    "openalex": "Annals of Port Aldermere",
    "pubmed": "Annals of Port Aldermere",
    "wikipedia": "",
}


@pytest.mark.parametrize("name", PUBLISHERS)
async def test_who_published_a_hit_is_kept(services: Services, name: str):
    assert (await ask(services, name))[0].publisher == PUBLISHERS[name]

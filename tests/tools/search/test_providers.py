"""Every provider of the web gives hits from what its service documents, and one sentence for each
way in which it fails.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from pydantic import SecretStr

from spadework.errors import QuotaSpent, SearchError, SettingsError
from spadework.tools.search.provider import Provider
from spadework.tools.search.scholarly import Arxiv, OpenAlex, PubMed, Wikipedia, arxiv_rows
from spadework.tools.search.web_services import Brave, Serper, Tavily
from spadework.values import Hit, Query
from tests.tools.search.services import KEY, Fault, Services

ASKED = Query(text="What is the census of Port Aldermere?")
NOW = Query(text="latest news from Port Aldermere")
SECRET = SecretStr(KEY)
AGENT = "harbour/1.0 (test)"

MAKE: dict[str, Callable[..., Provider]] = {
    "serper": lambda url, key=SECRET: Serper(key, url=url, agent=AGENT),
    "tavily": lambda url, key=SECRET: Tavily(key, url=url, agent=AGENT),
    "brave": lambda url, key=SECRET: Brave(key, url=url, agent=AGENT),
    "wikipedia": lambda url: Wikipedia(url=url, agent=AGENT),
    "arxiv": lambda url: Arxiv(url=url, agent=AGENT),
    "openalex": lambda url, key=SECRET: OpenAlex(key, url=url, agent=AGENT),
    "pubmed": lambda url: PubMed(url=url, agent=AGENT),
}
WITH_KEY = ("serper", "tavily", "brave", "openalex")
every = pytest.mark.parametrize("name", MAKE)
keyed = pytest.mark.parametrize("name", WITH_KEY)


async def ask(
    services: Services, name: str, query: Query = ASKED, limit: int = 15, seconds: float = 5.0
) -> list[Hit]:
    return await MAKE[name](services.url(name)).search(query, limit=limit, seconds=seconds)


async def failure(services: Services, name: str, seconds: float = 5.0) -> SearchError:
    """The error of a search: always one sentence, never with the key."""
    with pytest.raises(SearchError) as caught:
        await ask(services, name, seconds=seconds)
    text = str(caught.value)
    assert name not in WITH_KEY or KEY not in text + repr(caught.value.__cause__)
    assert text.endswith(".")
    assert "\n" not in text
    return caught.value


@every
async def test_results_are_hits_in_their_order(services: Services, name: str):
    found = await ask(services, name)
    assert [(hit.position, hit.provider, hit.query) for hit in found] == [
        (1, name, ASKED.text),
        (2, name, ASKED.text),
    ]
    papers = name in ("arxiv", "openalex", "pubmed")
    assert {hit.kind for hit in found} == {"paper" if papers else ""}
    assert [hit.title.rstrip(".") for hit in found] == [
        "Census of Port Aldermere",
        "History of the harbour",
    ]
    assert all(hit.url.startswith("http") for hit in found)
    assert found[0].published_at
    assert found[0].published_at.date() == datetime(2026, 3, 4, tzinfo=UTC).date()
    assert found[0].published_at.tzinfo
    assert "Port Aldermere" in found[0].snippet
    if name != "pubmed":
        assert found[0].snippet == "Port Aldermere had 48,210 inhabitants & 3 piers."
    assert {request.headers["user-agent"] for request in services.requests} == {AGENT}


@every
async def test_a_limit_is_kept(services: Services, name: str):
    assert [hit.position for hit in await ask(services, name, limit=1)] == [1]


@every
async def test_nothing_found_is_no_failure(services: Services, name: str):
    services.empty = True
    assert await ask(services, name) == []


@every
async def test_too_many_requests_are_a_spent_quota_with_the_time_to_wait(
    services: Services, name: str
):
    services.fault = "limited"
    error = await failure(services, name)
    assert isinstance(error, QuotaSpent)
    assert str(error).endswith("received too many requests; it asks to wait 30 s.")
    assert error.retry_after == 30


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (
            "Wed, 04 Mar 2026 12:00:00 GMT",
            "requests; it asks to wait until 2026-03-04 12:00:00 UTC.",
        ),
        ("soon", "requests."),
    ],
)
async def test_the_time_to_wait_may_be_a_date_or_missing(
    services: Services, header: str, words: str
):
    services.fault, services.retry_after = "limited", header
    assert str(await failure(services, "serper")).endswith(words)


@every
@pytest.mark.parametrize("fault", ["credits", "spent"])
async def test_a_quota_that_is_used_up_is_a_spent_quota(
    services: Services, name: str, fault: Fault
):
    services.fault = fault
    error = await failure(services, name)
    assert isinstance(error, QuotaSpent)
    assert "is used up" in str(error)


@every
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("forbidden", "refused the request (status 403)"),
        ("unauthorised", "refused the request (status 401)"),
        ("endless", "answered with more than 5 MB"),
        ("error", "answered with status 500: Failed for "),
        ("html", "did not return "),
        ("truncated", "did not return "),
        ("broken", "could not be queried: "),
        ("other", " no"),
        ("redirect", " "),
    ],
)
async def test_a_failure_says_what_failed(services: Services, name: str, fault: Fault, words: str):
    services.fault = fault
    error = await failure(services, name)
    assert words in str(error)
    assert not isinstance(error, QuotaSpent)


@every
@pytest.mark.parametrize("leaf", [None, 5, True, [], {}, "", "\ud83d", "https://x.example/"])
async def test_values_of_any_kind_are_hits_or_an_error(services: Services, name: str, leaf: object):
    services.leaf = leaf
    with suppress(SearchError):
        found = await ask(services, name)
        assert all(hit.url.startswith("http") and hit.title.encode() is not None for hit in found)


@pytest.mark.timed
@every
@pytest.mark.parametrize("fault", ["hang", "drip"])
async def test_a_silent_or_slow_service_is_left_at_the_deadline(
    services: Services, name: str, fault: Fault
):
    services.fault = fault
    before = time.monotonic()
    assert str(await failure(services, name, seconds=0.3)).endswith("did not answer within 0.3 s.")
    assert time.monotonic() - before < 1


@pytest.mark.parametrize(
    ("fault", "words"),
    [("hang", "within 0.5 s"), ("html", "complete JSON"), ("other", "records that it found")],
)
async def test_the_second_request_of_pubmed_may_fail_too(
    services: Services, fault: Fault, words: str
):
    services.fault, services.spare = fault, 1
    assert words in str(await failure(services, "pubmed", seconds=0.5))
    assert [request.path for request in services.requests] == ["/esearch.fcgi", "/esummary.fcgi"]


@every
async def test_a_service_that_is_not_there_is_an_error(name: str):
    with pytest.raises(SearchError, match="could not be queried"):
        await MAKE[name]("http://127.0.1.21:9").search(ASKED, limit=5, seconds=5)


@keyed
async def test_a_wrong_key_names_the_variable_to_check_and_not_the_key(
    services: Services, name: str
):
    provider = MAKE[name](services.url(name), SecretStr("wr0ng-key"))
    with pytest.raises(
        SearchError, match=rf"refused the request \(status \d+\): check {name.upper()}_API_KEY"
    ) as caught:
        await provider.search(ASKED, limit=5, seconds=5)
    assert "wr0ng-key" not in str(caught.value)


@keyed
@pytest.mark.parametrize("key", ["with space", "line\nbreak", "ключ"])
def test_what_cannot_be_a_key_is_a_settings_error_without_it(name: str, key: str):
    with pytest.raises(SettingsError, match=f"{name.upper()}_API_KEY is not a valid key") as caught:
        MAKE[name]("http://127.0.1.21:9", SecretStr(key))
    assert key not in str(caught.value)


@pytest.mark.parametrize("name", ["serper", "tavily", "brave"])
@pytest.mark.parametrize("key", [None, SecretStr(" ")])
def test_a_key_that_is_missing_is_a_settings_error(name: str, key: SecretStr | None):
    with pytest.raises(SettingsError, match=f"{name.upper()}_API_KEY is not set"):
        MAKE[name]("http://127.0.1.21:9", key)


@keyed
async def test_a_key_is_not_carried_elsewhere(services: Services, name: str):
    services.fault = "redirect"
    assert "answered with status 302" in str(await failure(services, name))


FRESH = {
    "serper": ({"tbs": "qdr:m"}, {"tbs": "qdr:y"}),
    "tavily": (
        {"topic": "news", "time_range": "month"},
        {"topic": "general", "time_range": "year"},
    ),
    "brave": ({"freshness": "pm"}, {"freshness": "py"}),
    "openalex": (
        {"filter": "from_publication_date:{:%Y-%m-%d}"},
        {"filter": "from_publication_date:{:%Y-%m-%d}"},
    ),
    "pubmed": ({"datetype": "pdat", "reldate": "30"}, {"datetype": "pdat", "reldate": "365"}),
    "arxiv": (
        {"search_query": '(all:"census") AND submittedDate:[{:%Y%m%d}0000 TO 299912312359]'},
        {"search_query": '(all:"census") AND submittedDate:[{:%Y%m%d}0000 TO 299912312359]'},
    ),
}


@pytest.mark.parametrize("name", FRESH)
async def test_what_a_plan_says_of_freshness_reaches_the_service(services: Services, name: str):
    now, recent = (Query(text="census", freshness=freshness) for freshness in ("now", "recent"))
    for query, expected, days in (
        (now, FRESH[name][0], 30),
        (recent, FRESH[name][1], 365),
        (Query(text="census"), {}, 0),
    ):
        services.reset()
        await ask(services, name, query)
        args = services.requests[0].args
        day = datetime.now(UTC).date() - timedelta(days=days)
        wanted = {key: value.format(day) for key, value in expected.items()}
        assert {key: args[key] for key in wanted} == wanted
        assert expected or not {"tbs", "time_range", "freshness", "filter", "reldate"} & args.keys()
    assert services.requests[0].path != "/news"


@pytest.mark.parametrize("name", ["serper", "brave", "tavily"])
async def test_domains_reach_the_service(services: Services, name: str):
    wishes = {
        "include_domains": ("https://www.Example.org/x", "b.example"),
        "exclude_domains": ("c.example", "no domain"),
    }
    await ask(services, name, Query(text="census", **wishes))
    args = services.requests[0].args
    if name == "tavily":
        assert (args["include_domains"], args["exclude_domains"]) == (
            ["example.org", "b.example"],
            ["c.example"],
        )
    else:
        assert args["q"] == "census (site:example.org OR site:b.example) -site:c.example"


async def test_questions_about_now_ask_for_news(services: Services):
    assert len(await ask(services, "serper", NOW)) == 2
    await ask(services, "tavily", NOW)
    await ask(services, "brave", NOW)
    await ask(services, "tavily")
    await ask(services, "brave")
    serper, tavily, brave, tavily_later, brave_later = services.requests
    assert serper.path == "/news"
    assert (tavily.args["topic"], tavily_later.args["topic"]) == ("news", "general")
    assert (brave.args.get("freshness"), brave_later.args.get("freshness")) == ("pm", None)


async def test_no_service_is_asked_for_more_than_it_gives(services: Services):
    for name in ("serper", "tavily", "brave", "openalex"):
        await ask(services, name, Query(text="word " * 300), limit=1_000)
    serper, tavily, brave, openalex = (request.args for request in services.requests)
    assert serper["num"] == 100
    assert (tavily["max_results"], len(tavily["query"])) == (20, len(" ".join(["word"] * 59)))
    assert (brave["count"], len(brave["q"].split())) == ("20", 50)
    assert openalex["per_page"] == "100"


async def test_literature_is_asked_for_terms(services: Services):
    await ask(services, "arxiv")
    await ask(services, "pubmed")
    arxiv, pubmed, summary = (request.args for request in services.requests)
    assert arxiv["search_query"] == 'all:"census" OR all:"port" OR all:"aldermere"'
    assert (pubmed["term"], pubmed["sort"], summary["id"]) == (
        "census port aldermere",
        "relevance",
        "40000001,40000002",
    )


async def test_wikipedia_is_that_of_the_language(services: Services):
    assert Wikipedia(language="de").describes == "Wikipedia (de)"
    found = await ask(services, "wikipedia")
    assert found[0].url == f"{services.url('wikipedia')}/wiki/Census_of_Port_Aldermere"


async def test_pubmed_says_who_wrote_what_where(services: Services):
    first, second = await ask(services, "pubmed")
    assert (
        first.snippet == "Fisher A, Miller A, Potter A et al. Annals of Port Aldermere. 2026 Mar 4"
    )
    assert (first.url, second.snippet) == ("https://pubmed.ncbi.nlm.nih.gov/40000001/", "2025")


async def test_half_a_character_does_not_keep_a_query_from_being_sent(services: Services):
    assert await ask(services, "serper", Query(text="caf\udce9 ships"))


def test_entities_of_a_feed_are_not_resolved():
    bomb = b'<!DOCTYPE f [<!ENTITY a "x"><!ENTITY b SYSTEM "file:///etc/passwd">]>'
    with pytest.raises(SearchError, match="Atom feed"):
        arxiv_rows(
            bomb + b"<feed"
            b' xmlns="http://www.w3.org/2005/Atom"><entry><id>http://x.org/&b;</id><title>&a;</title></entry></feed>'
        )


def test_errors_of_arxiv_are_no_hits():
    entry = (
        b"<entry><id>http://arxiv.org/api/errors#max</id><title>Error</title><summary>max_results"
        b" must be an integer</summary></entry>"
    )
    with pytest.raises(SearchError, match="arXiv could not answer: max_results must be an integer"):
        arxiv_rows(b'<feed xmlns="http://www.w3.org/2005/Atom">' + entry + b"</feed>")
    with pytest.raises(QuotaSpent):
        arxiv_rows(b"Rate exceeded.")

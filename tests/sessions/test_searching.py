"""How a run searches: with providers of one's own, for pages as fresh as its plan wants, from what
is kept, and when providers are down.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import StructuredTool
from pydantic import SecretStr

from spadework import Budget, Session, research
from spadework.errors import SearchError, SettingsError
from spadework.events import Notice
from spadework.graph.pages import provider_search
from spadework.graph.pages.provider_search import date_queries, gap_query
from spadework.sessions.search_only import search
from spadework.settings import Settings
from spadework.tools.search.mcp_tool import McpSearch
from spadework.tools.search.provider_choice import PROVIDERS, Spec
from spadework.tools.search.rate_limiter import RATE_LIMITERS
from spadework.tools.search.scholarly import Arxiv, OpenAlex, PubMed, Wikipedia
from spadework.tools.search.web_services import Brave, SearXNG, Serper, Tavily
from spadework.tools.web.urls import host_of
from spadework.values import Hit, Plan, Query, Recommendation, Topic
from tests.tools.search.mcp_servers import over_http
from tests.tools.search.services import KEY, Fault, Services
from tests.world.background import Background
from tests.world.searx import Searx
from tests.world.sites import World

ASKED = "What is known about the census of Port Aldermere?"
SECRET = SecretStr(KEY)


@pytest.fixture(autouse=True)
def own_queues() -> Iterator[None]:
    RATE_LIMITERS.clear()
    yield
    RATE_LIMITERS.clear()


@pytest.fixture
async def settings(
    world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> AsyncIterator[Settings]:
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    yield Settings.load(iterations=1, max_level=0)


class Recorder:
    """A provider of one's own that notes what it is asked and gives one page of the world."""

    name = "recorder"
    describes = "what the test gives"

    def __init__(self, url: str, empty_for: tuple[str, ...] = ()) -> None:
        self.asked: list[Query] = []
        self._url, self._empty_for = url, empty_for

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        self.asked.append(query)
        return (
            []
            if query.freshness in self._empty_for
            else [Hit(url=self._url, title="Census of Port Aldermere", snippet="census known")]
        )


async def test_a_run_searches_with_what_it_is_given(world: World, searx: Searx, settings: Settings):
    url = world.url("news", "/2026/census")

    def search(query: str) -> list[dict[str, str]]:
        """Searches."""
        return [{"link": url, "title": "Census of Port Aldermere", "snippet": "the census known"}]

    mine = Recorder(url)
    result = await research(
        ASKED, settings, providers=[mine, StructuredTool.from_function(search, name="My Tool")]
    )
    assert mine.asked
    assert searx.queries == []
    assert result.searched == ("what the test gives", "the sources of my-tool")
    [source] = result.sources
    assert {found.provider for found in source.found_by} == {"recorder", "my-tool"}


async def test_a_question_about_now_is_asked_for_news_and_for_recent_pages(
    world: World, settings: Settings
):
    mine = Recorder(world.url("news", "/2026/census"))
    await research("What is the latest news about Port Aldermere?", settings, providers=[mine])
    planned = [query.freshness for query in mine.asked]
    assert {"now", "recent"} <= set(planned)


async def test_what_the_settings_wish_is_wished_of_every_search_and_said_where_it_is_not_kept(
    world: World, settings: Settings
):
    url = world.url("news", "/2026/census")
    mine = Recorder(url)
    kept = settings.with_(
        search_country="de", search_kinds="news", search_sites=("example.com", host_of(url))
    )
    result = await research(ASKED, kept, providers=[mine])
    assert mine.asked
    assert {(q.country, q.news, q.include_domains) for q in mine.asked} == {
        ("de", True, ("example.com", host_of(url)))
    }
    assert "recorder cannot filter by a country or news" in result.report
    elsewhere = await research(
        ASKED, settings.with_(search_sites="elsewhere.example"), providers=[Recorder(url)]
    )
    assert elsewhere.sources == ()


async def test_what_cannot_be_read_by_its_address_is_not_fetched_where_there_is_enough_else(
    world: World, settings: Settings
):
    pages = [
        world.url("news", "/2026/census"),
        world.url("encyclopedia", "/wiki/Port_Aldermere"),
        world.url("blog", "/census"),
    ]
    film = world.url("archive", "/census-of-port-aldermere.mp4")

    class Mixed(Recorder):
        async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
            title = "Census of Port Aldermere"
            return [Hit(url=url, title=title, snippet=title) for url in (film, *pages)]

    result = await research(ASKED, settings, providers=[Mixed("")])
    assert result.sources
    assert not [request for request in world.requests if request.path.endswith(".mp4")]
    fresh = settings.with_(knowledge=False)
    alone = await research(ASKED, fresh, providers=[Recorder(film)])
    assert alone.sources == ()


async def test_where_nothing_is_recent_enough_older_pages_are_asked_for(
    world: World, settings: Settings
):
    mine = Recorder(world.url("news", "/2026/census"), empty_for=("now", "recent"))
    result = await research(
        "What is the latest news about Port Aldermere?", settings, providers=[mine]
    )
    assert result.sources
    assert result.usage.searches == len(mine.asked)


def test_queries_are_dated_by_the_plan():
    queries = (Query(text="a"), Query(text="b", kind="broad"))
    assert date_queries(queries, "any") == queries
    assert [query.freshness for query in date_queries(queries, "recent")] == ["recent", "recent"]
    assert [(query.text, query.freshness) for query in date_queries(queries, "now")] == [
        ("a", "now"),
        ("b", "recent"),
    ]
    assert [(query.text, query.freshness) for query in date_queries(queries[:1], "now")] == [
        ("a", "now"),
        ("a", "recent"),
    ]
    assert date_queries((), "now") == ()


def test_a_recommended_search_keeps_its_wishes():
    plan = Plan(question="q", freshness="now", topics=(Topic(name="t", question="q"),))
    wanted = Recommendation(
        query="x", max_results=3, include_domains=("a.example",), exclude_domains=("b.example",)
    )
    query = gap_query(wanted, plan, 9)
    assert (query.kind, query.results, query.freshness) == ("gap", 3, "recent")
    assert query.seconds == 9
    assert (query.include_domains, query.exclude_domains) == (("a.example",), ("b.example",))


async def test_the_next_session_does_not_pay_for_the_same_searches(
    searx: Searx, settings: Settings
):
    first, second = [await research(ASKED, settings) for _ in range(2)]
    assert (first.usage.searches, second.usage.searches) == (len(searx.queries), 0)
    assert second.usage.cache_hits >= first.usage.searches
    assert second.sources


@pytest.mark.full
async def test_throttling_is_told_while_it_happens_and_not_in_the_report(
    searx: Searx, settings: Settings
):
    slow = settings.with_(search_limits={"searxng": (1, 1)})
    session = Session.start(ASKED, settings=slow, budget=Budget(minutes=2))
    told, result = [], None
    async for event in session.events():
        told += [event.text] if isinstance(event, Notice) else []
        result = getattr(event, "result", result)
    assert result
    assert len(searx.queries) > 1
    assert any("searxng waited" in text and "to respect its rate limit" in text for text in told)
    assert "to respect its rate limit" not in result.report


class Down:
    """A provider of one's own that is down in one way."""

    describes = "nothing"

    def __init__(self, name: str, how: Any) -> None:
        self.name = name
        self._how = how

    async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
        if self._how is None:
            await asyncio.Event().wait()
        raise self._how


@pytest.fixture(scope="module")
def down(background: Background) -> dict[str, Services]:
    """A server for each service, so that each can fail in its own way."""
    return {
        name: Services(background)
        for name in ("serper", "tavily", "brave", "wikipedia", "arxiv", "openalex", "pubmed")
    }


FAULTS: dict[str, tuple[Fault, str]] = {
    "serper": ("limited", "received too many requests"),
    "tavily": ("spent", "is used up (status 432)"),
    "brave": ("unauthorised", "refused the request (status 401): check BRAVE_API_KEY"),
    "wikipedia": ("html", "did not return complete JSON (text/html)"),
    "arxiv": ("truncated", "did not return a complete Atom feed"),
    "openalex": ("endless", "answered with more than 5 MB"),
    "pubmed": ("hang", "did not answer within "),
}


def twelve(down: dict[str, Services], searx: Searx, mcp: str) -> list[Any]:
    for name, (fault, _) in FAULTS.items():
        down[name].reset()
        down[name].fault, down[name].retry_after = fault, "600"
    searx.fail("unresponsive")
    return [
        SearXNG(searx.url),
        Serper(SECRET, url=down["serper"].url("serper")),
        Tavily(SECRET, url=down["tavily"].url("tavily")),
        Brave(SECRET, url=down["brave"].url("brave")),
        Wikipedia(url=down["wikipedia"].url("wikipedia")),
        Arxiv(url=down["arxiv"].url("arxiv")),
        OpenAlex(url=down["openalex"].url("openalex")),
        PubMed(url=down["pubmed"].url("pubmed")),
        McpSearch("refuses", mcp),
        Down("refused", SearchError("The shelf is locked.")),
        Down("broken", RuntimeError("k3y")),
        Down("silent", None),
    ]


SAID = {
    "searxng": "None of SearXNG's engines answered: brave (timeout)",
    **{name: words for name, (_, words) in FAULTS.items()},
    "mcp": "answered with an error: Error 429: rate limit exceeded",
    "refused": "The shelf is locked.",
    "broken": "broken could not be searched: RuntimeError.",
    "silent": "silent did not answer within ",
}


@pytest.mark.parametrize("rounds", [1, 2, 3])
async def test_a_run_in_which_no_search_is_answered_has_failed(
    searx: Searx, settings: Settings, rounds: int
):
    searx.fail("error")
    result = await research(ASKED, settings.with_(iterations=rounds))
    assert (result.status, result.stopped_by) == ("failed", "nothing searched")
    assert "Every search failed." in result.report


async def test_a_search_that_finds_nothing_is_answered(settings: Settings):
    providers = (Recorder("", empty_for=("any",)), Down("locked", SearchError("It is locked.")))
    result = await research(ASKED, settings, providers=providers)
    assert result.status == "completed"
    assert [p.subject for p in result.problems if p.stage == "search"] == ["locked"]


@pytest.mark.full
async def test_twelve_providers_down_in_twelve_ways_are_each_named_with_how_they_failed(
    down: dict[str, Services], searx: Searx, settings: Settings, monkeypatch: pytest.MonkeyPatch
):
    limits = dict.fromkeys(SAID, (100.0, 10))
    # Enough for 5 MB without end on a busy machine.
    monkeypatch.setattr(provider_search, "SEARCH_SECONDS", 4)
    asking = settings.with_(search_limits=limits)
    async with over_http() as mcp:
        providers = twelve(down, searx, mcp)
        before = time.monotonic()
        result = await research(
            ASKED, asking, Budget(minutes=1, searches=1_000), providers=providers
        )
        for provider in providers:
            if isinstance(provider, McpSearch):
                await provider.close()
    assert time.monotonic() - before < 60
    assert (result.status, result.stopped_by) == ("failed", "nothing searched")
    told = {
        name: [p for p in result.problems if p.stage == "search" and p.subject == name]
        for name in SAID
    }
    for name, words in SAID.items():
        assert any(words in problem.reason for problem in told[name]), (
            name,
            [p.reason for p in told[name]],
        )
        first = told[name][
            0
        ].reason  # on a busy machine that may be that no whole answer came in time
        assert first.split("(")[0].strip() in result.report.replace("\\", ""), name
    assert KEY not in result.model_dump_json()
    assert "k3y" not in result.report


@pytest.mark.full
async def test_one_that_is_alive_among_twelve_carries_the_run(
    world: World,
    down: dict[str, Services],
    searx: Searx,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(provider_search, "SEARCH_SECONDS", 2)
    limits = dict.fromkeys(SAID, (100.0, 10))
    async with over_http() as mcp:
        providers = twelve(down, searx, mcp)
        alive = Recorder(world.url("news", "/2026/census"))
        given = [alive if getattr(p, "name", "") == "refused" else p for p in providers]
        result = await research(
            ASKED,
            settings.with_(search_limits=limits),
            Budget(minutes=1, searches=1_000),
            providers=given,
        )
        for provider in providers:
            if isinstance(provider, McpSearch):
                await provider.close()
    assert [source.url for source in result.sources] == [world.url("news", "/2026/census")]
    assert result.citations
    assert {p.subject for p in result.problems if p.stage == "search"} == set(SAID) - {"refused"}


FEED = """<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>{url}</id>
<title>The quay of Port Aldermere</title><summary>Measurements of the quay.</summary>
<published>2026-03-04T05:06:07Z</published></entry></feed>"""
FORUM = """<title>The quay of Port Aldermere</title>
<link itemscope itemtype="https://schema.org/DiscussionForumPosting"><h1>The quay</h1><p>{}</p>"""


@pytest.fixture
def three_kinds(
    world: World, searx: Searx, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[Settings, str, str]:
    """Settings that search the web, arXiv and notes, and the pages of a paper and of a forum."""
    said = "The quay of Port Aldermere is {} metres long, as was measured in the spring of 2026."
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quay.md").write_text(f"# The quay\n\n{said.format(412)}\n")
    paper = world.put("docs", "/quay", f"<title>The quay</title><p>{said.format(414)}</p>")
    forum = world.put("forum", "/quay", FORUM.format(said.format(420)))
    searx.script("", [forum])
    world.put("archive", "/query", FEED.format(url=paper), "application/atom+xml")
    papers = Spec(lambda _: Arxiv(url=world.url("archive", "")))
    monkeypatch.setitem(PROVIDERS, "arxiv", papers)
    chosen = settings.with_(search="searxng,arxiv,library", library=(tmp_path / "notes",))
    return chosen, paper, forum


LENGTH = "How long is the quay of Port Aldermere?"


async def test_papers_the_web_and_own_notes_are_searched_in_one_run_and_told_apart(
    three_kinds: tuple[Settings, str, str],
):
    chosen, paper, forum = three_kinds
    result = await research(LENGTH, chosen)
    kinds = {source.url: source.kind for source in result.sources}
    assert kinds == {paper: "paper", forum: "forum", "library://notes/quay.md": "own"}
    listed = result.report.partition("## Sources")[2]
    assert all(f", {word}" in listed for word in ("paper", "forum", "your document"))


async def test_only_the_kinds_that_are_asked_for_are_read(three_kinds: tuple[Settings, str, str]):
    chosen, paper, forum = three_kinds
    result = await research(LENGTH, chosen.with_(search_kinds="paper, own"))
    assert {source.url for source in result.sources} == {paper, "library://notes/quay.md"}
    assert "420" not in result.report
    [left] = [unread for unread in result.unread if unread.url == forum]
    assert left.reason == "Its kind is forum, not paper or own."
    looked = await search("quay", chosen.with_(search_kinds="own"))
    assert {ranked.hit.url for ranked in looked.hits} == {forum, "library://notes/quay.md"}
    with pytest.raises(SettingsError, match="search_kinds must be 'paper'"):
        chosen.with_(search_kinds="blog")

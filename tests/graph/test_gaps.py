"""What a topic that stays open does next: it reads on in what its first searches found, and never
asks the same twice.
"""

from __future__ import annotations

import re
from contextlib import aclosing

import pytest

from spadework.graph import finish
from spadework.sessions.one_call import research
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.world.brain import play
from tests.world.model import Model
from tests.world.naming import passages
from tests.world.searx import Searx
from tests.world.sites import World

SITES = ("encyclopedia", "docs", "news", "blog", "forum")
OPEN = "Briefly narrate the story of this ferry."
SURVEY = (
    "Survey the work related to this. Ferries of Aldermere carry mail across the sound in winter"
    " and in summer. A ferry of oak lasts forty years where the keel is tarred each spring by its"
    " crew. We measure the wear of forty keels from Port Aldermere. The wear of keels depends on"
    " ice in the sound, and tar halves the wear of keels."
)


def publish(world: World, count: int) -> list[str]:
    """So many pages about ferries, spread over the sites."""
    text = (
        "<title>Ferry {n}</title><article><h1>Ferry {n}</h1><p>The story of ferry {n} begins at"
        " pier {n} of Port Aldermere, where the keel was laid of oak and tarred in spring number"
        " {n}. Its wear was measured after {n} winters of ice in the sound.</p></article>"
    )
    return [world.put(SITES[n % len(SITES)], f"/ferry/{n}", text.format(n=n)) for n in range(count)]


@pytest.fixture
def settings(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load(search="searxng", knowledge=False, pages=20)


async def test_it_reads_on_in_what_the_first_searches_found(
    world: World, searx: Searx, settings: Settings
) -> None:
    urls = publish(world, 14)
    searx.script("ferry", urls)
    searx.script("tutorial", [])
    searx.script("guide", [])
    result = await research(OPEN, settings)
    assert result.iterations > 1
    assert {source.url for source in result.sources} == set(urls)
    assert len(searx.queries) == len(set(searx.queries))
    told = [evidence for topic in result.topics for evidence in topic.evidence]
    assert sum(len(evidence.quote) for evidence in told) < 1_500, "every round chose anew"


async def test_a_search_that_failed_is_not_tried_again_to_read_on(
    world: World, searx: Searx, settings: Settings
) -> None:
    urls = publish(world, 14)
    searx.script("ferry", urls)
    searx.fail("error", query="narrate quaint")
    result = await research("Briefly narrate the quaint story of this ferry.", settings)
    assert result.iterations > 1
    assert any("narrate quaint" in query for query in searx.queries)
    assert len(searx.queries) == len(set(searx.queries))


@pytest.mark.full
async def test_two_runs_of_a_survey_read_the_same_pages_whatever_is_slow(
    world: World, searx: Searx, settings: Settings
) -> None:
    publish(world, 30)
    first = await research(SURVEY, settings)
    world.delay, searx.delay = 0.1, 0.05
    second = await research(SURVEY, settings)
    assert len(first.topics) > 2
    assert [source.url for source in first.sources] == [source.url for source in second.sources]
    assert len(first.sources) > 14, "the first round's share"


async def test_a_topic_of_a_survey_that_is_dealt_no_page_reads_those_of_the_others(
    world: World, searx: Searx, settings: Settings
) -> None:
    urls = publish(world, 2)
    searx.script("", urls)
    readers: dict[str, set[str]] = {}
    async with aclosing(
        Session.start(SURVEY, settings=settings.model_copy(update={"iterations": 1})).events()
    ) as events:
        async for event in events:
            if event.type == "read" and not event.reason:
                readers.setdefault(event.topic, set()).add(event.url)
    assert len(readers) > 2
    assert all(read == set(urls) for read in readers.values())


#: Longer than all that an assessor is shown.
TALE = "</p><p>".join(
    f"On day {n} the inhabitants of Port Aldermere tell of the town and its inhabitants again."
    for n in range(400)
)
ANSWER = "The tollkeeper Merrin Vance painted the sluice green in 1911, as the parish book says."
TOLD = (
    f"<title>A chronicle</title><main><h1>A chronicle</h1><h2>Inhabitants</h2><p>{TALE}</p>"
    f"<h2>Other things</h2><p>{ANSWER}</p></main>"
)


@pytest.fixture
def with_model(settings: Settings, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in model.env.items():
        monkeypatch.setenv(name, value)
    return Settings.load(search="searxng", knowledge=False)


async def test_a_gap_is_found_in_a_page_that_was_read_before_beyond_what_was_shown(
    world: World, searx: Searx, model: Model, with_model: Settings
) -> None:
    url = world.put("encyclopedia", "/told", TOLD)
    searx.script("", [url])
    searx.script("sluice", [])
    play(
        model,
        {"Inhabitants": "Port Aldermere inhabitants"},
        keywords={"Inhabitants": "Merrin Vance"},
        gaps={"Inhabitants": "who painted the sluice green"},
    )
    result = await research("What is told of Port Aldermere?", with_model)
    fetched = [r for r in world.requests if r.path == "/told"]
    shown = [r.prompt for r in model.requests if r.schema_name == "AssessmentAnswer"]
    assert len(fetched) == 1
    assert [ANSWER in prompt for prompt in shown] == [False, True]
    assert (result.iterations, result.stopped_by) == (2, "coverage")
    assert (ANSWER, url) in [(e.quote, e.url) for topic in result.topics for e in topic.evidence]


async def test_what_was_shown_for_a_topic_is_not_shown_for_it_again(
    world: World, searx: Searx, model: Model, with_model: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finish, "MARGINAL_UTILITY", 0)
    searx.script("", [world.put("encyclopedia", "/told", TOLD)])
    play(
        model,
        {"Inhabitants": "Port Aldermere inhabitants"},
        keywords={"Inhabitants": "nothing has this"},
    )
    await research("What is told of Port Aldermere?", with_model)
    shown = [passages(r) for r in model.requests if r.schema_name == "AssessmentAnswer"]
    days = [set(re.findall(r"On day \d+ ", " ".join(texts))) for texts in shown]
    assert len(days) == 2
    assert all(days)
    assert not days[0] & days[1]

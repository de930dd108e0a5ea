"""Hits are looked at by a model before they are fetched: what is plainly about something else is
not read.
"""

from __future__ import annotations

import json
from contextlib import aclosing

import pytest

from spadework.agents.researcher import HIT_TOKENS
from spadework.events import Checked
from spadework.sessions.one_call import research
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.text import tokens
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.slow import known_as_slow
from tests.world.timing import depth

QUESTION = "What is known about Port Aldermere?"
WORDS = ("census", "harbour", "lottery", "weather")


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    return Settings.load(preset="precise", iterations=1, knowledge=False)


def page(word: str, told: int = 1) -> str:
    """A page about one thing, told so many times."""
    said = (
        f"The {word} is told of Port Aldermere by those who live there, and it has been written"
        " down in this place only. "
    ) * told
    return (
        "<html><head><title>Port Aldermere"
        f" {word}</title></head><body><main><p>{said}</p></main></body></html>"
    )


def found(world: World, searx: Searx, *words: str) -> list[str]:
    """The search for the topic finds a page about each of these."""
    urls = [world.put("blog", f"/{word}", page(word)) for word in words]
    searx.script("inhabitants", urls)
    return urls


def asked(model: Model) -> list[ChatRequest]:
    """The requests to look at hits."""
    return [request for request in model.requests if request.schema_name == "HitsAnswer"]


def listed(request: ChatRequest) -> list[str]:
    """The hits that are shown, one a line."""
    return request.prompt.split("<page_text>\n")[-1].split("\n</page_text>")[0].split("\n")


def against(*words: str) -> object:
    """A model that finds the hits with these words to be about something else."""

    def answer(request: ChatRequest) -> dict[str, object]:
        return {
            "against": [
                {"n": n, "reason": "about something else"}
                for n, line in enumerate(listed(request), 1)
                if any(word in line for word in words)
            ]
        }

    return answer


def read(world: World) -> list[str]:
    """The pages of the blog that were fetched."""
    return [
        request.path
        for request in world.requests
        if request.site == "blog" and request.path != "/robots.txt"
    ]


async def test_what_is_plainly_about_something_else_is_not_fetched_and_the_reason_is_kept(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    urls = found(world, searx, *WORDS)
    model.script("HitsAnswer", against("lottery"))
    session = Session.start(QUESTION, settings=settings)
    async with aclosing(session.events()) as events:
        checked = [event async for event in events if isinstance(event, Checked)]
    [event] = checked
    assert event.against == {urls[2]: "about something else"}
    assert sorted(read(world)) == ["/census", "/harbour", "/weather"]
    lines = (session.folder / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["against"] for line in lines if '"checked"' in line] == [event.against]


async def test_where_too_few_would_be_left_those_against_are_read_last(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    found(world, searx, *WORDS)
    model.script("HitsAnswer", against("census", "harbour", "lottery"))
    await research(QUESTION, settings.with_(parallel_per_host=1))
    assert read(world)[0] == "/weather"
    assert len(read(world)) == len(WORDS)


async def test_a_model_that_is_against_everything_changes_nothing(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    found(world, searx, *WORDS)
    model.script("HitsAnswer", against("blog", "."))
    await research(QUESTION, settings.with_(parallel_per_host=1))
    assert [path.strip("/") for path in read(world)] == list(WORDS)


async def test_half_as_many_hits_again_as_are_read_are_shown_in_forty_tokens_each(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    for query in ("first", "second", "third"):
        urls = [world.put("blog", f"/{query}/{n}", page(f"{query} {n}", told=9)) for n in range(15)]
        searx.script(query, urls)
    queries = [{"text": f"{text} page", "kind": "broad"} for text in ("first", "second", "third")]
    topic = {"name": "Pages", "question": "Which pages?", "must_cover": [], "queries": queries}
    head = {"question_type": "general", "complexity": "moderate", "freshness": "any"}
    model.script("PlanAnswer", head | {"language": "en", "subjects": [], "topics": [topic]})
    await research(QUESTION, settings.with_(preset="recall"))
    [request] = asked(model)
    lines = listed(request)
    assert len(lines) == 18
    assert all(tokens.count(line.partition(": ")[2]) <= HIT_TOKENS for line in lines)


async def test_all_topics_are_looked_at_in_one_wave(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    play(model, {"Town": "Port Aldermere inhabitants", "Number": "how many inhabitants"})
    found(world, searx, *WORDS)
    model.delay = 0.2
    await research(QUESTION, settings)
    assert len(asked(model)) == 2
    assert depth(asked(model)) == 1


@pytest.mark.parametrize(
    ("words", "changes"),
    [(WORDS[:3], {}), (WORDS, {"effort": "quick"}), (WORDS, {"calls": 5})],
    ids=["all are read anyway", "quick", "few calls"],
)
async def test_hits_are_not_looked_at_where_that_changes_nothing_or_costs_too_much(
    model: Model,
    world: World,
    searx: Searx,
    settings: Settings,
    words: tuple[str, ...],
    changes: dict[str, object],
) -> None:
    found(world, searx, *words)
    result = await research(QUESTION, settings.with_(**changes))
    assert not asked(model)
    assert not any(problem.stage == "judge" for problem in result.problems)


async def test_a_slow_model_is_spared_and_nothing_is_said_of_it(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    play(model, {"Town": "Port Aldermere inhabitants", "Number": "how many inhabitants"})
    found(world, searx, *WORDS)
    await research(QUESTION, settings)
    assert len(asked(model)) == 2
    await known_as_slow(model, settings)
    # The same question has its plan: nothing is measured before the hits are there.
    result = await research(QUESTION, settings)
    assert not asked(model)
    assert not [problem for problem in result.problems if problem.stage == "judge"]
    assert result.citations


async def test_a_look_that_fails_costs_itself_only(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    found(world, searx, *WORDS)
    model.script("HitsAnswer", Fault("refusal"))
    result = await research(QUESTION, settings)
    assert (result.status, result.stopped_by) == ("completed", "coverage")
    assert len(read(world)) == len(WORDS)
    assert [problem.stage for problem in result.problems] == ["judge"]

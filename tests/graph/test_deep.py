"""Deep effort: a first look before planning, hits judged, one more search after a reflection, an
editor's opinion.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from pathlib import Path

import pytest

from spadework.events import Checked
from spadework.sessions.research import research
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
DEEP = ("HitsAnswer", "ReflectionAnswer", "OpinionAnswer")
OPINION = {
    "verdict": "It answers the question.",
    "strengths": ["Inhabitants: it has a number."],
    "weaknesses": ["It is short."],
}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    model.script("HitsAnswer", {"hits": []})
    model.script("ReflectionAnswer", {"enough": True, "missing": "", "query": ""})
    model.script("OpinionAnswer", OPINION)
    return Settings.load(effort="deep")


def of(model: Model, name: str) -> list[ChatRequest]:
    """The requests for one kind of answer."""
    return [request for request in model.requests if request.schema_name == name]


async def test_normal_effort_asks_none_of_it(model: Model, settings: Settings) -> None:
    result = await research(QUESTION, settings.with_(effort="normal"))
    assert not any(of(model, name) for name in DEEP)
    assert result.opinion == ""


async def test_the_lead_sees_a_first_broad_search_before_it_plans(
    model: Model, searx: Searx, settings: Settings
) -> None:
    result = await research(QUESTION, settings)
    [plan] = of(model, "PlanAnswer")
    assert "Titles of a first broad search" in plan.prompt
    assert searx.queries[0] == QUESTION
    assert result.status == "completed"


def page(word: str) -> str:
    """A page about one thing."""
    said = (
        f"The {word} is told of Port Aldermere by those who live there, and it has been written"
        " down in this place only."
    )
    return (
        "<html><head><title>Port Aldermere"
        f" {word}</title></head><body><main><p>{said}</p></main></body></html>"
    )


def review(folder: str) -> str:
    """The editorial review of a session."""
    [file] = Path(folder).glob("editorial_review_*.md")
    return file.read_text()


async def test_hits_are_judged_in_one_call_and_those_against_come_last(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    found = [
        world.put("blog", f"/{word}", page(word))
        for word in ("census", "harbour", "lottery", "weather")
    ]
    searx.script("inhabitants", found)

    def judge(request: ChatRequest) -> dict[str, object]:
        blocks = request.prompt.split("Results:")[1].split("\n\n")[1:5]
        return {
            "hits": [
                {"n": n, "relevant": "lottery" not in block, "reason": "a lottery"}
                for n, block in enumerate(blocks, 1)
            ]
        }

    model.script("HitsAnswer", judge)
    session = Session.start(QUESTION, settings=settings.with_(preset="precise"))
    async with aclosing(session.events()) as events:
        checked = [event async for event in events if isinstance(event, Checked)]
    assert len(of(model, "HitsAnswer")) == 1
    assert [(list(event.against), set(event.against.values())) for event in checked] == [
        ([found[2]], {"a lottery"})
    ]
    read = [
        request.path
        for request in world.requests
        if request.site == "blog" and request.path != "/robots.txt"
    ]
    assert read.index("/census") < (read.index("/lottery") if "/lottery" in read else len(read))


async def test_a_reflection_may_search_once_more(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    model.script(
        "ReflectionAnswer",
        {"enough": False, "missing": "the census", "query": "Aldermere census office"},
    )
    await research(QUESTION, settings.with_(iterations=1))
    assert [query for query in searx.queries if "census office" in query] == [
        "Aldermere census office"
    ]
    assert len(of(model, "ReflectionAnswer")) == 1


async def test_the_editor_s_opinion_stands_in_the_review(settings: Settings) -> None:
    result = await research(QUESTION, settings)
    assert OPINION["verdict"] in result.opinion
    assert "It is short." in review(result.session_dir)


@pytest.mark.parametrize("name", DEEP)
async def test_a_check_that_fails_costs_itself_only(
    model: Model, settings: Settings, name: str
) -> None:
    model.script(name, Fault("refusal"))
    result = await research(QUESTION, settings)
    assert (result.status, result.stopped_by) == ("completed", "coverage")
    assert result.citations
    stage = "writer" if name == "OpinionAnswer" else "judge"
    assert [
        problem.stage
        for problem in result.problems
        if "shape" in problem.reason or "usable" in problem.reason
    ] == [stage]


async def test_a_session_keeps_why_a_hit_was_not_read(model: Model, settings: Settings) -> None:
    model.script("HitsAnswer", {"hits": [{"n": 1, "relevant": False, "reason": "another town"}]})
    result = await research(QUESTION, settings)
    lines = (Path(result.session_dir) / "events.jsonl").read_text().splitlines()
    assert any("another town" in json.loads(line).get("against", {}).values() for line in lines)

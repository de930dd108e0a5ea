"""Deep effort: a first look before planning, one more search after a reflection, and an editor who
acts.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
DEEP = ("ReflectionAnswer", "OpinionAnswer")
OPINION = {
    "verdict": "It answers the question.",
    "strengths": ["Inhabitants: it has a number."],
    "weaknesses": [],
}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    model.script("HitsAnswer", {"against": []})
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


def review(folder: str) -> str:
    """The editorial review of a session."""
    [file] = Path(folder).glob("editorial_review_*.md")
    return file.read_text()


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
    assert OPINION["verdict"] in review(result.session_dir)


@pytest.mark.parametrize("name", DEEP)
async def test_a_check_that_fails_costs_itself_only(
    model: Model, settings: Settings, name: str
) -> None:
    model.script(name, Fault("refusal"))
    result = await research(QUESTION, settings)
    assert (result.status, result.stopped_by) == ("completed", "coverage")
    assert result.citations
    stage = "writer" if name == "OpinionAnswer" else "judge"
    withheld = [p.stage for p in result.problems if "withheld its answer" in p.reason]
    assert (withheld, len(of(model, name))) == ([stage], 1)

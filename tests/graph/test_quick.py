"""Quick effort: few topics, few calls of a model, and a further round only where it takes none of
the time for writing.
"""

from __future__ import annotations

import time

import pytest

from spadework.budget import Budget
from spadework.graph.effort.workload import workload
from spadework.graph.finish import stopped_by
from spadework.graph.routes import first_tasks
from spadework.graph.state import ResearchState
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Coverage, Plan, Query, Round, Topic
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
    "Harbour": "Port Aldermere harbour",
    "Ferry": "Port Aldermere ferry",
}
PLAN = Plan(question="?", topics=(Topic(name="T", question="?", queries=(Query(text="q"),) * 4),))
OPEN: ResearchState = {
    "plan": PLAN,
    "coverage": {"T": Coverage(topic="T", covered=False, score=0.1)},
    "rounds": [Round(number=1, evidence_before=0, evidence_after=3, score=0.1)],
}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, TOPICS)
    return Settings.load(effort="quick")


async def test_a_plan_has_three_topics_at_most_and_nobody_looks_at_hits_or_pages(
    model: Model, settings: Settings
) -> None:
    result = await research(QUESTION, settings)
    assert [topic.name for topic in result.topics] == list(TOPICS)[:3]
    [plan] = [r for r in model.requests if r.schema_name == "PlanAnswer"]
    assert "at most 3 topics" in plan.prompt
    assert plan.schema["properties"]["topics"]["maxItems"] == 3
    asked = {r.schema_name for r in model.requests}
    assert not asked & {"HitsAnswer", "JudgeAnswer", "CleanAnswer", "ReflectionAnswer"}


def test_a_topic_is_searched_and_read_like_a_simple_question() -> None:
    load = workload(PLAN, Settings.load(effort="quick"), model=True)
    [task] = first_tasks(PLAN, Budget(), load)
    assert (len(task.queries), task.pages) == (3, 6)


@pytest.mark.parametrize(
    ("effort", "seconds", "why"), [("quick", 100, ""), ("quick", 320, "time"), ("normal", 320, "")]
)
def test_a_further_round_leaves_the_time_for_writing_alone(
    effort: str, seconds: float, why: str
) -> None:
    settings = Settings.load(effort=effort)
    budget = Budget.of(settings)
    budget.start(time.monotonic() - seconds)
    assert stopped_by(OPEN, budget, settings) == why


def test_there_are_two_rounds_where_nobody_says_how_many() -> None:
    assert [Settings.load(effort=effort).iterations for effort in ("quick", "normal", "deep")] == [
        2,
        3,
        3,
    ]
    assert Settings.load(effort="quick", iterations=1).iterations == 1

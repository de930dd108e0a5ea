"""How much is asked and read for a question: by the complexity of its plan and the effort, never
more than the settings allow.
"""

from __future__ import annotations

from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st

from spadework.budget import Budget
from spadework.graph.effort.forecast import forecast, pages_of
from spadework.graph.effort.workload import SIMPLE_PAGES, workload
from spadework.graph.routes import FIRST_ROUND_PAGES, LEAST_PAGES, first_tasks
from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.values import Complexity, Plan, Query, Task, Topic
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "Who founded Port Aldermere?"
KINDS = ("keepers", "wages")


def plan_of(complexity: Complexity, topics: int, queries: int = 4) -> Plan:
    """A plan of so many topics, each with so many queries."""
    asked = tuple(Query(text=f"q{n}") for n in range(queries))
    return Plan(
        question="?",
        complexity=complexity,
        topics=tuple(Topic(name=f"T{n}", question="?", queries=asked) for n in range(topics)),
    )


def tasks_of(plan: Plan, *, model: bool = True, **changes: Any) -> list[Task]:
    """The first tasks of a plan."""
    settings = Settings.load(**changes)
    return first_tasks(plan, Budget.of(settings), workload(plan, settings, model=model))


def calls(task: Task) -> int:
    """The searches and pages of a worker."""
    return len(task.queries) + task.pages


@pytest.mark.parametrize(
    ("complexity", "topics", "queries", "least", "most"),
    [
        ("simple", 1, 4, 3, 10),
        ("simple", 1, 1, 3, 10),
        ("moderate", 2, 2, 10, 15),
        ("moderate", 4, 4, 10, 15),
        ("moderate", 6, 4, 10, 15),
    ],
)
def test_a_worker_does_as_much_as_the_complexity_is_worth(
    complexity: Complexity, topics: int, queries: int, least: int, most: int
) -> None:
    assert [
        least <= calls(task) <= most for task in tasks_of(plan_of(complexity, topics, queries))
    ] == [True] * topics


def test_without_a_model_a_simple_question_has_no_pages_taken_away() -> None:
    assert [calls(task) for task in tasks_of(plan_of("simple", 1), model=False)] == [14]


@pytest.mark.parametrize("topics", [1, 3])
def test_deep_effort_without_a_model_reads_200_to_400_pages(topics: int) -> None:
    tasks = tasks_of(plan_of("simple", topics), model=False, effort="deep")
    assert 200 <= pages_of(tasks) <= 400


@pytest.mark.parametrize("topics", [8, 10, 12])
def test_deep_effort_reads_200_to_400_pages_for_a_complex_question(topics: int) -> None:
    plan, settings = plan_of("complex", topics), Settings.load(effort="deep")
    tasks = tasks_of(plan, effort="deep")
    assert 200 <= pages_of(tasks) <= 400
    told = forecast(plan, tasks, settings)
    assert told.pages.high == settings.pages == 400


@given(
    st.sampled_from(get_args(Complexity)),
    st.integers(1, 12),
    st.sampled_from(["quick", "normal", "deep"]),
    st.sampled_from(["default", "precise", "balanced", "recall"]),
    st.integers(0, 500),
    st.booleans(),
)
def test_the_first_round_keeps_to_its_share_of_the_pages(
    complexity: Complexity, topics: int, effort: str, preset: str, pages: int, model: bool
) -> None:
    tasks = tasks_of(
        plan_of(complexity, topics), model=model, effort=effort, preset=preset, pages=pages
    )
    assert pages_of(tasks) <= max(LEAST_PAGES * topics, pages * FIRST_ROUND_PAGES)


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


def planned(model: Model, complexity: Complexity, *names: str) -> None:
    """A lead that plans these topics and calls them so; the other roles play along."""
    play(model, {name: name for name in names})
    queries = [
        {"text": f"Port Aldermere {word}", "kind": "broad"}
        for word in ("town", "harbour", "history", "inhabitants")
    ]
    topics = [
        {"name": name, "question": f"{name}?", "must_cover": [], "queries": queries}
        for name in names
    ]
    head = {
        "question_type": "fact",
        "complexity": complexity,
        "freshness": "any",
        "language": "en",
        "subjects": [],
    }
    model.script("PlanAnswer", head | {"topics": topics})


async def test_a_simple_question_takes_one_worker_and_at_most_ten_calls(
    model: Model, world: World, searx: Searx, settings: Settings
) -> None:
    planned(model, "simple", "Founder")
    result = await research(QUESTION, settings)
    read = [request for request in world.requests if request.path != "/robots.txt"]
    assert result.iterations == 1
    looked = 1  # the lead's first look
    assert 3 <= len(searx.queries) - looked + len(read) <= 10


async def test_where_the_model_is_known_to_be_unfit_no_page_is_saved(
    model: Model, settings: Settings
) -> None:
    """Code judges then, which has the pages alone to go by."""
    planned(model, "simple", "Founder")
    model.script("VerdictsAnswer", {"verdicts": []})
    short = settings.with_(iterations=1, knowledge=False)
    read = [(await research(asked, short)).usage.pages for asked in (QUESTION, f"{QUESTION}?")]
    assert read[0] <= SIMPLE_PAGES < read[1]


async def test_a_plan_of_several_topics_is_not_simple_and_none_of_them_is_left_out(
    model: Model, settings: Settings
) -> None:
    planned(model, "simple", "Founder", "Founding year", "Harbour")
    result = await research(QUESTION, settings.with_(iterations=1))
    assert [topic.name for topic in result.topics] == ["Founder", "Founding year", "Harbour"]


def town(word: str, n: int) -> str:
    """A page about one thing in one town."""
    said = (
        f"In town {n} the {word} is kept by {n + 3} families, and the council pays each of them"
        f" {n + 20} crowns a year for it."
    )
    return (
        f"<html><head><title>The {word} in town"
        f" {n}</title></head><body><main><h1>{word}</h1><p>{said}</p></main></body></html>"
    )


@pytest.fixture
def coast(model: Model, world: World, searx: Searx, settings: Settings) -> Settings:
    """A complex question of eight topics, each with two queries that find 18 pages of their own."""
    things = (
        "harbour",
        "lighthouse",
        "herring",
        "ropewalk",
        "quarry",
        "tidemill",
        "chapel",
        "ferry",
    )
    for n, word in enumerate(things):
        for half, kind in enumerate(KINDS):
            pages = range(half * 18, half * 18 + 18)
            searx.script(
                f"{word} {kind}",
                [
                    world.put(("blog", "news", "docs")[(n + i) % 3], f"/{word}/{i}", town(word, i))
                    for i in pages
                ],
            )
    play(model, {word: word for word in things})
    topics = [
        {
            "name": w,
            "question": f"Who keeps the {w}?",
            "must_cover": [],
            "queries": [{"text": f"{w} {k}", "kind": "broad"} for k in KINDS],
        }
        for w in things
    ]
    head = {
        "question_type": "general",
        "complexity": "complex",
        "freshness": "any",
        "language": "en",
        "subjects": [],
    }
    model.script("PlanAnswer", head | {"topics": topics})
    model.script("HitsAnswer", {"against": []})
    model.script("ReflectionAnswer", {"enough": True, "missing": "", "query": ""})
    model.script("OpinionAnswer", {"verdict": "Fine.", "strengths": [], "weaknesses": []})
    return settings.with_(effort="deep", iterations=1)


@pytest.mark.full
@pytest.mark.parametrize(("pages", "least"), [(400, 200), (90, 50)])
async def test_a_deep_run_reads_hundreds_of_sources_and_no_more_than_allowed(
    coast: Settings, pages: int, least: int
) -> None:
    result = await research("Who keeps the towns of the coast?", coast.with_(pages=pages))
    assert least <= len(result.sources) <= result.usage.pages <= pages
    assert all(topic.covered for topic in result.topics)


def test_a_normal_forecast_is_below_that_of_deep_effort(settings: Settings) -> None:
    plan = plan_of("moderate", 4)
    normal, deep = (
        forecast(plan, tasks_of(plan, effort=effort), settings.with_(effort=effort))
        for effort in ("normal", "deep")
    )
    assert (normal.pages.high, deep.pages.high) == (60, 240)

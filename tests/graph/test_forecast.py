"""What is told before a run: how long it takes and what it costs; and plans that are used again."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from spadework.apps.mcp.call_runs import Teller
from spadework.apps.terminal.live_run import word_event
from spadework.apps.view_model import ViewModel, foretold
from spadework.budget import Budget
from spadework.events import Asked, Event, Finished, Foreseen, Notice, Planned
from spadework.graph.effort.forecast import forecast, later
from spadework.graph.effort.workload import workload
from spadework.graph.routes import first_tasks
from spadework.sessions.one_call import research
from spadework.sessions.record.records import delete_session
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Forecast, Plan, Query, Topic
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, TOPICS)
    return Settings.load(prices={"world-model": (1.0, 10.0)})


def foreseen(
    count: int, *, model: bool = True, plan_seconds: float = 0.0, **changes: Any
) -> Forecast:
    """The forecast of a plan of so many topics."""
    settings = Settings.load(
        model="openai:m",
        openai_base_url="http://127.0.0.1:9/v1",
        prices={"m": (1.0, 10.0)},
        **changes,
    )
    topics = tuple(
        Topic(name=f"T{n}", question="?", queries=(Query(text=f"q{n}"), Query(text=f"r{n}")))
        for n in range(count)
    )
    plan = Plan(question="?", topics=topics)
    load = workload(plan, settings, model=model)
    return forecast(
        plan,
        first_tasks(plan, Budget.of(settings), load),
        settings,
        model=model,
        plan_seconds=plan_seconds,
    )


def test_what_a_run_has_lasted_before_its_plan_is_counted() -> None:
    made = foreseen(2)
    begun = later(made, 60, Settings.load(minutes=10)).seconds
    assert (begun.low, begun.high) == (made.seconds.low + 60, made.seconds.high + 60)
    assert later(made, 60, Settings.load(minutes=1)).seconds.high == 60, "the ceiling holds"


def test_more_topics_and_deeper_effort_take_more() -> None:
    one, four, deep = foreseen(1), foreseen(4), foreseen(4, effort="deep")
    assert (one.calls.low, four.calls.low, deep.calls.low) == (3, 10, 19)
    assert [foreseen(4, effort=effort).calls.high for effort in ("quick", "normal", "deep")] == [
        14,  # one more round: four topics judged again
        30,  # two more rounds: hits looked at, too
        43,  # and a reflection on each topic
    ]
    assert one.tokens.high < four.tokens.high < deep.tokens.high
    assert one.money and four.money and deep.money
    assert one.money.high < four.money.high < deep.money.high
    assert (one.searches.low, four.searches.low) == (2, 8)
    assert 0 < one.writing.high < four.writing.high < four.tokens.high
    assert f"{four.writing.high:,.0f} of them for writing and checking" in foretold(four)


def test_ceilings_bound_a_forecast_and_nothing_is_below_nothing() -> None:
    told = foreseen(6, minutes=0.5, calls=8, tokens=9_000, searches=5, money=0.001)
    assert (told.seconds.high, told.calls.high, told.tokens.high, told.searches.high) == (
        30,
        8,
        9_000,
        5,
    )
    assert told.money and told.money.high == 0.001
    for span in (told.rounds, told.searches, told.pages, told.calls, told.tokens, told.seconds):
        assert 0 <= span.low <= span.high


def test_a_model_that_took_long_for_the_plan_takes_as_long_for_every_call() -> None:
    quick, slow = foreseen(2, minutes=60, plan_seconds=19), foreseen(2, minutes=60, plan_seconds=50)
    assert quick == foreseen(2, minutes=60)
    assert (slow.calls.low, slow.calls.high) == (6, 16)
    assert slow.seconds.low == 6 * 25 + 3
    assert slow.seconds.high == 16 * 75 + 3 * 40
    assert foreseen(2, minutes=10, plan_seconds=50).seconds.high == 600, "the ceiling holds"
    assert foreseen(2, model=False, plan_seconds=50).seconds == foreseen(2, model=False).seconds


def test_an_unknown_price_is_said_and_without_a_model_there_is_none() -> None:
    assert "of unknown price" in foretold(foreseen(2, writer_model="openai:other"))
    plain = foretold(foreseen(2, model=False))
    assert "model" not in plain
    assert "$" not in plain


async def test_the_forecast_holds_and_comes_before_anything_is_searched(
    model: Model, searx: Searx, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spadework.sessions.session.USER_SECONDS", 0.06)
    events: list[Event] = []
    searched: list[int] = []
    session = Session.start(QUESTION, settings=settings.with_(approve=True))
    async with aclosing(session.events()) as stream:
        async for event in stream:
            events.append(event)
            if isinstance(event, (Foreseen, Planned, Asked)):
                searched.append(len(searx.queries))
    [first] = [event for event in events if isinstance(event, Foreseen)]
    [planned] = [event for event in events if isinstance(event, Planned)]
    [asked] = [event for event in events if isinstance(event, Asked)]
    told = planned.forecast
    assert told
    assert told == asked.forecast
    assert searched == [0, 1, 1], "a broad search is made between the question and its plan"
    [finished] = [event for event in events if isinstance(event, Finished)]
    assert finished.result.forecast == first.forecast
    used = finished.result.usage
    assert told.calls.low <= used.model_calls <= told.calls.high
    assert told.searches.low <= used.searches <= told.searches.high
    assert used.tokens_in + used.tokens_out <= told.tokens.high
    assert told.money and used.money
    assert used.money <= told.money.high


async def test_the_forecast_comes_before_a_library_is_indexed(tmp_path: Path) -> None:
    (tmp_path / "keeper.md").write_text("# Keeper\n\nThe keeper of the lamp is Ida Brandt.\n")
    settings = Settings.load(library=[tmp_path], search="library")
    seen: list[str] = []
    session = Session.start("Who is the keeper of the lamp?", settings=settings)
    async with aclosing(session.events(progress=seen.append)) as stream:
        async for event in stream:
            seen.append(type(event).__name__)
            last = event
    assert seen[:3] == ["Started", "Foreseen", "Building the index of the library: 1 of 1 done."]
    assert isinstance(last, Finished)
    assert "Ida Brandt" in last.result.report
    assert "(1 document)" in last.result.report, "the index is described as it is at the end"


async def test_every_interface_shows_the_forecast_of_a_question() -> None:
    first = Foreseen(forecast=foreseen(2))
    said = f"Estimate: {foretold(first.forecast)}"
    assert word_event(first) == said
    view, messages = ViewModel(), list[str]()
    view.take(first)
    assert said in view.said

    async def report(_: float, __: float | None, message: str | None) -> None:
        messages.append(message or "")

    await Teller(report, 60).tell(first)
    assert said in messages[0]


async def test_the_plan_of_a_question_asked_before_is_used_again(
    model: Model, settings: Settings
) -> None:
    plans = []
    for text in (QUESTION, f"  {QUESTION.lower()}"):
        async with aclosing(Session.start(text, settings=settings).events()) as events:
            seen = [event async for event in events]
        plans += [event.plan for event in seen if isinstance(event, Planned)]
    assert [r.schema_name for r in model.requests].count("PlanAnswer") == 1
    assert plans[0].topics == plans[1].topics
    assert plans[1].question == QUESTION.lower()
    assert any(isinstance(event, Notice) and "the same question" in event.text for event in seen)


@pytest.mark.parametrize(
    ("second", "changes"),
    [
        ("Who lives there?", {}),
        (QUESTION, {"model": "openai:other"}),
        (QUESTION, {"effort": "deep"}),
    ],
)
async def test_another_question_model_or_effort_is_planned_anew(
    model: Model, settings: Settings, second: str, changes: dict[str, Any]
) -> None:
    settings = settings.with_(iterations=1)
    await research(QUESTION, settings)
    await research(second, settings.with_(**changes))
    assert [r.schema_name for r in model.requests].count("PlanAnswer") == 2


async def test_a_session_that_is_deleted_takes_the_plan_of_its_question_along_and_no_other(
    model: Model, settings: Settings
) -> None:
    other = f"{QUESTION.rstrip('?')} (in winter)?"
    await research(other, settings)
    result = await research(QUESTION, settings)
    delete_session(settings.home, result.session_id)
    kept = [
        Plan.model_validate_json(path.read_bytes()).question
        for path in (settings.home / "plans").glob("*.json")
    ]
    assert kept == [other]


async def test_the_plan_of_the_extractive_lead_is_not_kept(
    model: Model, settings: Settings
) -> None:
    model.script("PlanAnswer", Fault("refusal"))
    await research(QUESTION, settings)
    assert not (settings.home / "plans").exists()

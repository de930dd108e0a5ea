"""Ceilings: a run that is given a little more than it uses is refused nothing, and with much less
it still plans, reads, assesses and writes.
"""

from __future__ import annotations

import math
from collections import Counter

import pytest

from spadework.budget import Budget
from spadework.sessions.metrics.run_history import ENOUGH, took
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.thinned import thinned
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
    "Harbour": "Port Aldermere harbour office",
}
#: Ceilings of which a run feels nothing.
WIDE = {"minutes": 10, "calls": 1_000, "tokens": 10_000_000, "money": 100.0, "pages": 1_000}
MORE, LESS = 1.15, 0.65
#: Time needs more room: a round begins only if one as long as usual fits.
MORE_TIME = 1.3
#: Seconds of a model's answers by their shape, and of a search and a page, where time is the
#: ceiling: they are most of a run's time.
ANSWERS, OTHER, PAGE = {"PlanAnswer": 1.2, "SectionAnswer": 1.2}, 1.6, 0.2
FULL = pytest.mark.full


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    # A second round follows, for what the harbour lacks.
    play(model, TOPICS, keywords={"Harbour": "tide"}, gaps={"Harbour": "tide tables printed"})
    return Settings.load(prices={"world-model": (1, 8)}, **WIDE)


async def run(settings: Settings, name: str, model: Model) -> tuple[Result, Budget]:
    """A run in a home of its own, so that it knows nothing of others."""
    model.requests.clear()
    session = Session.start(QUESTION, settings=settings.with_(home=settings.home / name))
    return await session.result(), session.budget


def used(limit: str, budget: Budget) -> float:
    return budget.spent(limit)  # type: ignore[arg-type]


def whole(limit: str, amount: float) -> float:
    return amount if limit == "money" else math.ceil(amount)


@pytest.mark.parametrize(
    "effort", ["normal", *(pytest.param(effort, marks=FULL) for effort in ("quick", "deep"))]
)
@pytest.mark.parametrize("limit", thinned(["calls", "tokens", "money", "pages"], 4))
async def test_a_little_more_than_it_uses_refuses_nothing(
    settings: Settings, model: Model, limit: str, effort: str
) -> None:
    settings = settings.with_(effort=effort)
    free, budget = await run(settings, "free", model)
    asked = Counter(request.schema_name for request in model.requests)
    limits = {limit: whole(limit, MORE * used(limit, budget))}
    result, budget = await run(settings.with_(**limits), "bounded", model)
    assert not budget.refused
    assert result.status == free.status == "completed"
    assert result.report == free.report
    assert Counter(request.schema_name for request in model.requests) == asked


@pytest.mark.parametrize(
    "effort", ["normal", *(pytest.param(effort, marks=FULL) for effort in ("quick", "deep"))]
)
@pytest.mark.parametrize("limit", thinned(["pages", "calls", "money", "tokens"], 4))
async def test_with_much_less_it_plans_reads_assesses_and_writes(
    settings: Settings, model: Model, limit: str, effort: str
) -> None:
    settings = settings.with_(effort=effort)
    _, budget = await run(settings, "free", model)
    limits = {limit: whole(limit, LESS * used(limit, budget))}
    result, budget = await run(settings.with_(**limits), "bounded", model)
    asked = Counter(request.schema_name for request in model.requests if request.used[1])
    assert used(limit, budget) <= limits[limit]
    assert result.mode == "model"
    assert result.citations
    assert result.usage.pages
    assert {"PlanAnswer", "AssessmentAnswer", "SectionAnswer"} <= asked.keys()
    assert not any(problem.stage == "lead" for problem in result.problems)


@pytest.mark.timed
@pytest.mark.timeout(180)
@pytest.mark.full
@pytest.mark.parametrize("effort", ["normal", "deep"])
async def test_time_is_a_ceiling_like_the_others(
    settings: Settings, world: World, searx: Searx, model: Model, effort: str
) -> None:
    # A browser takes its time to start only once.
    settings = settings.with_(effort=effort, max_level=1)
    for name in ("first", "free", "more", "less"):
        for _ in range(ENOUGH):  # what closing takes is known here
            took(settings.home / name, writing=0.05, closing=0.1, leaving=0.1)
    await run(settings, "first", model)  # what the process loads once is loaded
    model.delays = dict(ANSWERS)
    model.delay, searx.delay, world.delay = OTHER, PAGE, PAGE
    free, _ = await run(settings, "free", model)
    seconds, asked = free.timings["total"], Counter(r.schema_name for r in model.requests)

    more, _ = await run(settings.with_(minutes=MORE_TIME * seconds / 60), "more", model)
    assert more.status == free.status == "completed"
    assert Counter(request.schema_name for request in model.requests) == asked
    assert [p.reason for p in more.problems if p not in free.problems] == []

    less, budget = await run(settings.with_(minutes=LESS * seconds / 60), "less", model)
    answered = {request.schema_name for request in model.requests if request.used[1]}
    assert less.timings["total"] <= budget.seconds
    assert less.mode == "model"
    assert less.citations
    assert less.usage.pages
    assert {"PlanAnswer", "AssessmentAnswer", "SectionAnswer"} <= answered
    late = [p.stage for p in less.problems if "in time" in p.reason]
    assert not {"lead", "judge", "search", "read", "assessor"} & {*late}

"""What the runs of a home took is known to the next one."""

from __future__ import annotations

from spadework.graph.effort.forecast import LEAST_RUNS
from spadework.sessions.metrics.run_history import took_before
from spadework.sessions.session import Session
from spadework.settings import Settings


async def test_runs_of_a_home_are_what_the_next_one_is_foreseen_by(settings: Settings) -> None:
    results = []
    for _ in range(LEAST_RUNS + 1):
        session = Session.start("What is the Quillon?", settings=settings)
        results.append(await session.result())
    forecasts = [result.forecast for result in results]
    assert [f.runs for f in forecasts if f] == [0] * LEAST_RUNS + [LEAST_RUNS]
    last = forecasts[-1]
    assert last is not None
    assert last.seconds.median is not None
    assert last.searches.median == results[-1].usage.searches
    known = took_before(settings.home)
    seconds = [took.actual["seconds"] for took in known]
    assert sorted(seconds) == sorted(result.timings["total"] for result in results)
    assert all(took.kind == last.kind for took in known)
    assert "library" in last.kind


async def test_a_run_that_its_user_ended_says_nothing(settings: Settings) -> None:
    session = Session.start("What is the Quillon?", settings=settings)
    session.stop()
    assert (await session.result()).status == "partial"
    assert took_before(settings.home) == []


async def test_a_run_that_examines_its_model_is_of_another_kind(online: Settings) -> None:
    """It takes longer than those after it, which would be foreseen too long by it."""
    runs = [await Session.start("What costs the ferry?", settings=online).result() for _ in "ab"]
    kinds = [run.forecast.kind for run in runs if run.forecast]
    assert kinds[0].replace(", its model tested first", "") == kinds[1] != kinds[0]

"""What one user may have in a day, over all runs and processes; and at once."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from spadework.budget import Budget, HoldRequest
from spadework.errors import BudgetSpent, DaySpent
from spadework.sessions.one_call import research
from spadework.sessions.quotas import DayLimit, day_limit_of
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Usage
from tests.world.brain import play
from tests.world.held import Held
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.timing import eventually

QUESTION = "How many inhabitants does Port Aldermere have?"
WISH = HoldRequest(told=100, usual=300, most=1_000, price=(1.0, 2.0))
SOON = 1e9


def limited(home: Path, money: float) -> DayLimit:
    limit = DayLimit(home)
    limit.money = money
    return limit


async def call(budget: Budget, money: float) -> None:
    hold = await budget.hold(WISH, until=SOON)
    budget.settle(hold, used=(100, 0), price=money)


async def test_all_runs_of_a_user_share_one_limit(tmp_path: Path) -> None:
    limit = limited(tmp_path, 0.01)
    one, other = Budget(), Budget()
    one.draw_on(limit)
    other.draw_on(limit)
    await call(one, 0.006)
    await call(other, 0.0036)
    with pytest.raises(BudgetSpent):
        await call(one, 0.001)  # less is left than the shortest answer may cost
    assert limit.free().money == pytest.approx(0.0004)


async def test_what_calls_under_way_may_cost_is_not_given_twice(tmp_path: Path) -> None:
    limit = limited(tmp_path, 0.001)
    one, other = Budget(), Budget()
    one.draw_on(limit)
    other.draw_on(limit)
    hold = await one.hold(WISH, until=SOON)
    with pytest.raises(BudgetSpent):
        async with asyncio.timeout(5):
            await other.hold(WISH, until=SOON)
    one.settle(hold, used=(0, 0), price=0.0)
    await call(other, 0.0001)


async def test_a_run_that_is_taken_up_may_take_what_is_left_beside_what_it_has_taken(
    tmp_path: Path,
) -> None:
    budget = Budget(money=10.0)
    budget.start(budget.started, Usage(money=6.0))
    budget.draw_on(limited(tmp_path, 1.0))
    assert budget.limits.money == pytest.approx(7.0)


async def test_another_process_knows_what_was_spent_and_a_line_cut_off_is_left_out(
    tmp_path: Path,
) -> None:
    limit = limited(tmp_path, 2.0)
    budget = Budget()
    budget.draw_on(limit)
    await call(budget, 0.5)
    await limit.refresh()
    another = limited(tmp_path, 2.0)
    await another.refresh()
    assert another.free().money == 1.5
    [file] = (tmp_path / "spent").iterdir()
    with file.open("ab") as lines:
        lines.write(b"9")
    await another.refresh()
    assert another.free().money == 1.5
    with file.open("ab") as lines:
        lines.write(b"0\n100 0.5\n")
    await another.refresh()
    assert another.free().money == 1.0
    assert file.stat().st_mode & 0o077 == 0


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, {"Inhabitants": "Port Aldermere inhabitants"})
    return Settings.load(iterations=1, prices={"world-model": (1.0, 10.0)})


async def test_a_day_that_is_used_up_refuses_the_next_question_and_leaves_nothing(
    settings: Settings, model: Model
) -> None:
    few = settings.with_(user_money=0.02)
    result = await research(QUESTION, few)
    used = result.usage.money or 0.0
    assert 0 < used <= 0.02
    assert result.report
    sessions = sorted((settings.home / "sessions").iterdir())
    left = few.with_(user_money=used)
    with pytest.raises(DaySpent, match=f"your daily limit of {used:,.2f} US dollars"):
        await research(QUESTION, left)
    assert sorted((settings.home / "sessions").iterdir()) == sessions
    # Another user, and one without a limit, are asked for none of it.
    another = left.with_(home=settings.home / "another")
    assert (await research(QUESTION, another)).report
    assert await day_limit_of(settings) is None


async def test_more_runs_than_may_be_at_once_wait_and_are_told_why(tmp_path: Path) -> None:
    settings = Settings.load(user_runs=1)
    held, told = Held(), list[str]()
    first, second = (
        Session.start("What is the Quillon?", settings=settings).search_with(held) for _ in "12"
    )

    async def run(session: Session) -> None:
        async with aclosing(session.events(progress=told.append)) as events:
            async for _ in events:
                pass

    runs = [asyncio.create_task(run(first))]
    await eventually(lambda: held.asked)
    runs.append(asyncio.create_task(run(second)))
    await eventually(lambda: any("queue" in text for text in told))
    assert told == [
        "1 of your questions is being researched (your limit is 1). You are"
        " number 1 of 1 in the queue."
    ]
    held.go.set()
    await asyncio.gather(*runs)

"""The budget: its clock, its shares, its purses."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.budget import SHARES, Budget
from spadework.errors import BudgetSpent, SettingsError
from spadework.values import Usage


def test_a_purse_pays_up_to_its_ceiling_and_then_nothing() -> None:
    budget = Budget(calls=2)
    budget.charge("calls")
    budget.charge("calls")
    with pytest.raises(BudgetSpent, match="calls"):
        budget.charge("calls")
    assert budget.used.model_calls == 2
    assert (budget.refused, budget.ended_by()) == ("calls", "calls")


def test_the_clock_can_be_set_back_and_ends_the_run() -> None:
    budget = Budget(minutes=1)
    budget.start(time.monotonic() - 61, Usage(searches=3))
    assert budget.left() == 0
    assert budget.ended_by() == "time"
    assert budget.used.searches == 3


@given(st.floats(0.1, 600), st.floats(0, 1))
def test_phases_never_promise_more_than_is_left(minutes: float, gone: float) -> None:
    budget = Budget(minutes=minutes)
    budget.start(time.monotonic() - gone * minutes * 60)
    phases = list(SHARES)
    for n, phase in enumerate(phases):
        assert 0 <= budget.phase(phase) <= budget.left() + 1e-6
        assert budget.phase(*phases[n:]) == pytest.approx(budget.until_closing(), abs=0.01)


def test_money_becomes_unknown_with_a_price_that_is_not_known_and_its_ceiling_holds_all_the_same() -> (  # noqa: E501
    None
):
    budget = Budget(money=1)
    budget.hold(100, 0.5)
    budget.settle(100, 0.5, used=(60, 40), price=0.4)
    assert budget.used.money == 0.4
    budget.hold(10, 0)
    budget.settle(10, 0, used=(5, 5), price=None)
    assert budget.used.money is None
    with pytest.raises(BudgetSpent, match="money"):
        budget.hold(10, 0.7)
    assert budget.used.tokens_in + budget.used.tokens_out == 110


def test_what_calls_under_way_may_cost_is_set_aside() -> None:
    budget = Budget(tokens=1_000)
    budget.hold(600, 0)
    with pytest.raises(BudgetSpent, match="tokens"):
        budget.hold(600, 0)
    assert (budget.refused, budget.used.model_calls, budget.tokens_left()) == ("tokens", 1, 400)
    budget.settle(600, 0, used=(100, 50), price=None)
    budget.hold(600, 0)


@pytest.mark.parametrize("wrong", [{"minutes": 0}, {"minutes": -1}, {"calls": -1}])
def test_a_ceiling_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        Budget(**wrong)  # type: ignore[arg-type]

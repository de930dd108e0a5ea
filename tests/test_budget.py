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


def test_money_becomes_unknown_with_a_price_that_is_not_known() -> None:
    budget = Budget()
    budget.add(money=0.5)
    budget.forget_price()
    budget.add(money=0.5, tokens_in=10)
    assert budget.used.money is None
    assert budget.used.tokens_in == 10


@pytest.mark.parametrize("wrong", [{"minutes": 0}, {"minutes": -1}, {"calls": -1}])
def test_a_ceiling_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        Budget(**wrong)  # type: ignore[arg-type]

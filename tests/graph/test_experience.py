"""What runs will take by what earlier ones took."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from spadework.apps.view_model import foretold, took_beside
from spadework.graph.effort.forecast import LEAST_RUNS, MOST_RUNS, Took, by_experience
from spadework.values import Forecast, Span

KIND, MACHINE = "normal effort, no model", "abcd"
LIMITS = {"seconds": 600.0}


def reckoned(low: float = 3.0, high: float = 120.0) -> Forecast:
    """A forecast by constants, of a run that takes so many seconds."""
    whole = Span(low=4, high=4)
    return Forecast(
        kind=KIND,
        machine=MACHINE,
        workers=2,
        rounds=Span(low=1, high=3),
        searches=whole,
        pages=whole,
        calls=Span(),
        tokens=Span(),
        seconds=Span(low=low, high=high),
        money=Span(),
    )


def took(seconds: float, kind: str = KIND) -> Took:
    actual = {"seconds": seconds, "searches": 4, "pages": 3, "rounds": 1, "calls": 0, "tokens": 0}
    return Took(kind, MACHINE, {**actual, "money": 0.0})


def even(chance: random.Random) -> float:
    return chance.lognormvariate(2.5, 0.5)


def two_humps(chance: random.Random) -> float:
    """Runs of one round, and runs of two."""
    return chance.gauss(8, 1) if chance.random() < 0.6 else chance.gauss(20, 2)


def long_tail(chance: random.Random) -> float:
    return 3 + chance.expovariate(1 / 6)


@pytest.mark.parametrize("draw", [even, two_humps, long_tail])
def test_nine_runs_of_ten_end_within_the_range_of_the_last_twenty(
    draw: Callable[[random.Random], float],
) -> None:
    chance, held = random.Random(3), 0
    for _ in range(1_000):
        earlier = [took(draw(chance)) for _ in range(MOST_RUNS)]
        span = by_experience(reckoned(), earlier, LIMITS).seconds
        held += span.low <= draw(chance) <= span.high
    assert 0.85 <= held / 1_000 <= 0.95


def test_only_the_last_twenty_runs_are_asked() -> None:
    made = by_experience(reckoned(), [*[took(5.0)] * MOST_RUNS, *[took(50.0)] * 30], LIMITS)
    assert (made.runs, made.seconds) == (MOST_RUNS, Span(low=5, median=5, high=5))


def test_too_few_runs_and_runs_of_another_kind_or_machine_say_nothing() -> None:
    made = reckoned()
    assert by_experience(made, [took(5.0)] * (LEAST_RUNS - 1), LIMITS) == made
    others = [took(5.0, kind="deep effort, no model")] * 20
    others += [took(5.0)._replace(machine="another")] * 20
    assert by_experience(made, others, LIMITS) == made


def test_counts_are_whole_and_nothing_is_foreseen_beyond_a_ceiling() -> None:
    chance = random.Random(5)
    earlier = [took(chance.lognormvariate(5, 1.5)) for _ in range(30)]
    made = by_experience(reckoned(), earlier, LIMITS)
    assert made.runs == MOST_RUNS
    assert made.seconds.high == LIMITS["seconds"]
    assert (made.pages.low, made.pages.median, made.pages.high) == (3, 3, 3)
    assert (made.calls.low, made.calls.high) == (0, 0)


def test_it_is_told_what_a_forecast_rests_on() -> None:
    made = reckoned()
    assert foretold(made).startswith("3 to 120 s, ")
    assert foretold(made).endswith("; a rough estimate, based on fewer than five similar runs")
    known = by_experience(made, [took(seconds) for seconds in range(8, 28)], LIMITS)
    assert foretold(known).startswith("about 18 s (8 to 27 s), 1 round, ")
    assert foretold(known).endswith("; based on the last 20 similar runs")
    assert took_beside(known, 12.0) == "as estimated (8 to 27 s)"
    assert took_beside(known, 40.0) == "more than estimated (8 to 27 s)"

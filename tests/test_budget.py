"""The budget: its clock, its shares, its limits."""

from __future__ import annotations

import asyncio
import time
from typing import NamedTuple

import pytest
from hypothesis import example, given, strategies as st

from spadework.budget import Budget, HoldRequest, Price
from spadework.deadline import BY_CODE, QUICK, WITH_MODEL, Shares, shares_of
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
    assert budget.seconds_left() == 0
    assert budget.ended_by() == "time"
    assert budget.used.searches == 3


@given(st.floats(0.1, 600), st.floats(0, 1), st.sampled_from([BY_CODE, QUICK, WITH_MODEL]))
def test_phases_never_promise_more_than_is_left(
    minutes: float, gone: float, shares: Shares
) -> None:
    budget = Budget(minutes=minutes)
    budget.shares = shares
    budget.start(time.monotonic() - gone * minutes * 60)
    phases = list(shares)
    for n, phase in enumerate(phases):
        assert 0 <= budget.phase(phase) <= budget.seconds_left() + 1e-6
        before, told = budget.until_closing(), budget.phase(*phases[n:])
        assert budget.until_closing() - 1e-3 <= told <= before + 1e-3, "however long that took"


@given(st.floats(0, 1))
def test_the_time_to_write_is_left_whatever_was_done_before(gone: float) -> None:
    budget = Budget(minutes=10)
    budget.shares = WITH_MODEL
    budget.start(time.monotonic() - gone * 600)
    for phase in ("plan", "search", "read", "assess"):
        spare = budget.until_closing() - budget.phase(phase)
        assert spare >= min(180, budget.until_closing()) - 0.01
    assert (budget.ended_by() == "time") == (budget.until_closing() <= 180)


def test_in_a_short_run_a_step_may_take_of_the_time_for_reading() -> None:
    short, usual = Budget(minutes=0.25), Budget(minutes=10)
    assert short.phase("plan", "search") < 3
    assert short.step("plan", "search", least=6) == pytest.approx(5, abs=0.5)
    assert short.step("plan", "search", least=3) == pytest.approx(3, abs=0.1)
    assert usual.step("plan", least=6) == pytest.approx(usual.phase("plan"), abs=0.1)


def test_what_a_report_has_taken_bounds_what_is_held_back_to_write_it_again() -> None:
    budget = Budget(minutes=10, tokens=1_000)
    budget.shares = WITH_MODEL
    budget.start(time.monotonic() - 300, Usage(tokens_in=400))
    assert budget.reckoned("assess") == pytest.approx(118, abs=1)
    assert budget.free().tokens == 300
    budget.writes()
    budget.started -= 60
    budget.add(tokens_in=100)
    budget.wrote()
    assert budget.reckoned("assess") == pytest.approx(208, abs=1), "half of what writing took"
    assert budget.free().tokens == 450


async def test_haste_saves_time_to_write_but_not_what_that_costs() -> None:
    budget = Budget(tokens=1_000)
    budget.shares = shares_of("quick", model=True)
    assert budget.free().tokens == 700
    for left in (560, 360):
        hold = await budget.hold(wish(200, 200, closing=True), until=0)
        budget.settle(hold, used=(200, 0), price=None)
        assert budget.free().tokens == left, "less than it took before the report is written"
        budget.writes()


def test_a_step_that_can_be_left_out_leaves_the_time_to_read_and_judge() -> None:
    budget = Budget(minutes=1)
    budget.shares = WITH_MODEL
    budget.start(time.monotonic() - 10)
    assert budget.fits(9)
    assert not budget.fits(11), "what is not for writing and closing is for three such steps"
    assert budget.fits(0), "code takes what there is"


def test_judging_takes_of_the_time_to_write_where_a_call_would_find_too_little() -> None:
    budget = Budget(minutes=1)
    budget.shares = WITH_MODEL
    budget.start(time.monotonic() - 38)
    assert budget.phase("assess") == pytest.approx(2, abs=0.1)
    assert budget.judging_seconds(1) == pytest.approx(2, abs=0.1)
    assert budget.judging_seconds(6) == pytest.approx(9, abs=0.1)
    assert budget.judging_seconds(30) == pytest.approx(10, abs=0.1), "half is left to write"


def test_a_model_that_writes_has_another_share_than_code() -> None:
    assert shares_of("normal", model=True)["write"] == 0.3
    assert shares_of("deep", model=True) == shares_of("normal", model=True)
    assert shares_of("normal", model=False) == shares_of("quick", model=False)
    quick = shares_of("quick", model=True)
    assert quick["write"] == 0.05
    assert 360 * (quick["plan"] + quick["search"]) >= 90  # what a small model's first plan needs


async def test_money_becomes_unknown_with_an_unknown_price_and_its_ceiling_holds_all_the_same() -> (
    None
):
    budget = Budget(money=1)
    first = await budget.hold(wish(50, 500, price=(0.0, 1_000.0)), until=0)
    budget.settle(first, used=(60, 40), price=0.4)
    assert budget.used.money == 0.4
    second = await budget.hold(wish(5, 300), until=0)
    budget.settle(second, used=(5, 5), price=None)
    assert budget.used.money is None
    with pytest.raises(BudgetSpent, match="money"):
        await budget.hold(wish(5, 500, price=(0.0, 3_000.0)), until=0)
    assert budget.used.tokens_in + budget.used.tokens_out == 110


async def test_an_answer_has_all_its_room_while_there_is_plenty() -> None:
    budget = Budget(tokens=1_000_000, money=5)
    held = await budget.hold(wish(3_000, 900, most=8_000, price=(1.25, 10.0)), until=0)
    assert held.room == 8_000
    assert (held.tokens, held.money) == (11_000, pytest.approx(0.08375))


async def test_an_answer_has_what_is_usual_where_there_is_less_and_what_is_left_in_the_end() -> (
    None
):
    budget = Budget(tokens=4_000)
    budget.shares = WITH_MODEL
    held = await budget.hold(wish(500, 900, most=8_000), until=0)
    assert held.room == 900
    budget.settle(held, used=(500, 900), price=None)
    held = await budget.hold(wish(700, 900, most=8_000), until=0)
    assert held.room == 2_800 - 1_400 - 700, "nobody is under way who could give some back"
    budget.settle(held, used=(700, 100), price=None)
    with pytest.raises(BudgetSpent, match="tokens"):
        await budget.hold(wish(700, 900, most=8_000), until=0)
    assert budget.refused == "tokens"
    assert (await budget.hold(wish(700, 900, closing=True), until=0)).room == 900


async def test_who_finds_no_room_waits_for_a_settlement() -> None:
    budget = Budget(tokens=2_800)
    first = await budget.hold(wish(600, 900), until=0)
    waiting = asyncio.create_task(budget.hold(wish(600, 900), until=time.monotonic() + 60))
    await asyncio.sleep(0)
    assert not waiting.done()
    assert budget.used.model_calls == 1
    budget.settle(first, used=(300, 50), price=None)
    assert (await waiting).room == 900
    assert budget.refused == ""


async def test_who_waits_is_refused_in_time_and_takes_nothing() -> None:
    budget = Budget(tokens=2_800)
    first = await budget.hold(wish(600, 900), until=0)
    with pytest.raises(BudgetSpent, match="tokens"):
        await budget.hold(wish(600, 900), until=time.monotonic() + 0.05)
    assert (budget.refused, budget.used.model_calls) == ("tokens", 1)
    budget.settle(first, used=(0, 0), price=None)
    assert (await budget.hold(wish(600, 900), until=0)).room == 900


async def test_what_can_never_have_room_does_not_wait() -> None:
    budget = Budget(tokens=2_000)
    await budget.hold(wish(600, 900), until=0)
    with pytest.raises(BudgetSpent, match="tokens"):
        async with asyncio.timeout(5):
            await budget.hold(wish(1_800, 900), until=time.monotonic() + 60)


@pytest.mark.parametrize(("calls", "opening"), [(1, 0), (2, 1), (3, 2), (4, 2), (10, 7), (110, 77)])
async def test_calls_are_held_back_for_the_closing(calls: int, opening: int) -> None:
    budget = Budget(calls=calls)
    budget.shares = WITH_MODEL
    for _ in range(opening):
        await budget.hold(wish(10, 300), until=0)
    with pytest.raises(BudgetSpent, match="calls"):
        await budget.hold(wish(10, 300), until=0)
    assert budget.ended_by() == ("calls" if opening else "")
    for _ in range(calls - opening):
        await budget.hold(wish(10, 300, closing=True), until=0)
    with pytest.raises(BudgetSpent, match="calls"):
        await budget.hold(wish(10, 300, closing=True), until=0)
    assert budget.used.model_calls == calls


async def test_who_has_waited_takes_no_call_that_is_held_back_for_the_closing() -> None:
    budget = Budget(calls=4, tokens=10_000)
    budget.shares = WITH_MODEL
    first = await budget.hold(wish(6_000, 900), until=0)
    later = time.monotonic() + 60
    waiting = [asyncio.create_task(budget.hold(wish(600, 900), until=later)) for _ in range(3)]
    await asyncio.sleep(0)
    budget.settle(first, used=(10, 10), price=None)
    await asyncio.gather(*waiting, return_exceptions=True)
    assert budget.used.model_calls == 2, "two of four are held back"


class Call(NamedTuple):
    """A call that comes after so many turns of the event loop, takes so many, and uses such a share
    of its room.
    """

    wish: HoldRequest
    comes: int
    takes: int
    uses: float


PRICES = st.one_of(st.none(), st.tuples(st.floats(0, 20), st.floats(0, 120)))
CALLS = st.lists(
    st.builds(
        Call,
        st.builds(
            HoldRequest,
            st.integers(1, 3_000),
            st.integers(1, 4_000),
            st.integers(100, 8_000),
            PRICES,
            st.booleans(),
        ),
        st.integers(0, 20),
        st.integers(0, 20),
        st.floats(0, 1),
    ),
    max_size=25,
)


@given(CALLS, st.integers(0, 20), st.integers(0, 30_000), st.floats(0, 2))
@example(  # one of those who close has taken money that is held back; the last one needs none
    [
        Call(HoldRequest(1, 1, 100), 0, 0, 0.0),
        Call(HoldRequest(1, 1, 100), 0, 0, 0.0),
        Call(HoldRequest(445, 1, 100, (20.0, 0.0)), 0, 0, 0.0),
        Call(HoldRequest(376, 1, 100, (20.0, 0.0), True), 0, 0, 0.0),
        Call(HoldRequest(1, 1, 100), 0, 0, 0.0),
    ],
    8,
    1320,
    0.0234375,
)
def test_no_purse_is_overrun_by_calls_side_by_side_and_each_is_made_or_refused(
    calls: list[Call], most: int, tokens: int, money: float
) -> None:
    """At no moment more is set aside and spent than the ceiling, nor by those who open a run more
    than is not held back: a share of what those who close it have left. And nobody waits for ever.
    """
    budget = Budget(calls=most, tokens=tokens, money=money)
    under_way = {False: [0, 0.0], True: [0, 0.0]}
    spent, closed = [0, 0.0], [0, 0.0]
    fits: list[bool] = []

    async def made(call: Call) -> None:
        for _ in range(call.comes):
            await asyncio.sleep(0)
        hold = await budget.hold(call.wish, until=time.monotonic() + 60)
        fits.append(min(200, call.wish.most) <= hold.room <= call.wish.most)
        mine = under_way[call.wish.closing]
        mine[0], mine[1] = mine[0] + hold.tokens, mine[1] + hold.money
        for n, limit in enumerate((tokens, money)):
            together = spent[n] + under_way[False][n] + under_way[True][n]
            kept = 0 if call.wish.closing else WITH_MODEL["write"] * (limit - closed[n])
            takes_none = (hold.tokens, hold.money)[n] == 0  # of money, where no price is known
            fits.append(takes_none or together <= limit - kept + 1e-6)
        for _ in range(call.takes):
            await asyncio.sleep(0)
        said = int(call.uses * hold.room)
        price = _dollars(call.wish.price, call.wish.told, said)
        mine[0], mine[1] = mine[0] - hold.tokens, mine[1] - hold.money
        for paid in (spent, closed) if call.wish.closing else (spent,):
            paid[0], paid[1] = paid[0] + call.wish.told + said, paid[1] + (price or 0)
        budget.settle(hold, used=(call.wish.told, said), price=price)

    async def all_made() -> list[BaseException | None]:
        async with asyncio.timeout(10):
            return await asyncio.gather(*(made(call) for call in calls), return_exceptions=True)

    ends = asyncio.run(all_made())
    assert all(end is None or isinstance(end, BudgetSpent) for end in ends), ends
    assert all(fits)
    assert budget.used.model_calls == ends.count(None) <= most
    assert budget.spent("tokens") <= tokens


def wish(
    told: int, usual: int, *, most: int = 0, price: Price | None = None, closing: bool = False
) -> HoldRequest:
    return HoldRequest(told, usual, most or usual, price, closing)


def _dollars(price: Price | None, told: int, said: int) -> float | None:
    return None if price is None else (told * price[0] + said * price[1]) / 1_000_000


@pytest.mark.parametrize("wrong", [{"minutes": 0}, {"minutes": -1}, {"calls": -1}])
def test_a_ceiling_that_makes_no_sense_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(SettingsError, match=next(iter(wrong))):
        Budget(**wrong)  # type: ignore[arg-type]

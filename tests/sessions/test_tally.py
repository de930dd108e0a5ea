"""What the process counts of its runs."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from spadework.errors import SettingsError
from spadework.events import Called, Read
from spadework.sessions.metrics.prometheus import TALLY, Tally
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.sessions.followed import ASKED
from tests.world.fault import Fault
from tests.world.held import Held
from tests.world.model import Model
from tests.world.timing import eventually

QUESTION = "What is the Quillon?"


@pytest.fixture
def tally(monkeypatch: pytest.MonkeyPatch) -> Tally:
    """That of the process, empty."""
    for name, value in vars(Tally()).items():
        monkeypatch.setattr(TALLY, name, value)
    return TALLY


async def test_a_run_counts_as_it_has_ended(settings: Settings, tally: Tally) -> None:
    result = await Session.start(QUESTION, settings=settings).result()
    assert tally.ended == {result.status: 1}
    assert tally.searches["answered"] == result.usage.searches + result.usage.cache_hits > 0
    assert tally.pages["read"] > 0
    assert not tally.calls
    assert not tally.alerts


async def test_one_that_is_left_is_stopped_and_one_with_a_fault_is_broken(
    settings: Settings, tally: Tally
) -> None:
    held = Held()
    session = Session.start(QUESTION, settings=settings).search_with(held)
    running = asyncio.create_task(session.result())
    await eventually(lambda: held.asked)
    running.cancel()
    await asyncio.wait({running})
    assert tally.ended == {"stopped": 1}
    with pytest.raises(SettingsError):
        await Session.start(QUESTION, settings=settings.with_(search="nobody")).result()
    assert tally.ended == {"stopped": 1, "broken": 1}


async def test_a_run_that_is_taken_up_counts_what_is_new(
    online: Settings, tally: Tally, model: Model
) -> None:
    session = Session.start(QUESTION, settings=online)
    async with aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, Read):
                break
    before = sum(tally.calls.values())
    assert before
    result = await Session.resume(session.session_id, home=online.home).result()
    assert sum(tally.calls.values()) == result.usage.model_calls == len(model.requests)
    assert tally.ended == {"stopped": 1, result.status: 1}


async def test_a_limit_that_ends_a_run_and_what_should_be_looked_at_are_counted(
    online: Settings, tally: Tally, model: Model
) -> None:
    result = await Session.start(ASKED, settings=online.with_(calls=6)).result()
    assert result.stopped_by == "calls"
    assert tally.limited == {"calls": 1}
    assert not tally.alerts, "a call that was not paid for has not failed"
    model.script("", Fault("error"))
    await Session.start(ASKED, settings=online).result()
    assert tally.alerts == {"model calls": 1}


def test_a_role_that_nobody_knows_makes_no_label_of_its_own() -> None:
    tally = Tally()
    tally.saw(Called(role="What is X?", model="m", shape="s", asked="a", verdict="fits"))
    assert tally.calls == {("other", "fits"): 1}

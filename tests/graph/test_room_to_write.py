"""What is held back for writing is there when the report is written, however little there is."""

from __future__ import annotations

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from spadework.tools.stores import plan_store
from spadework.values import Result
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
    "Harbour": "Port Aldermere harbour",
}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(plan_store, "PLAN_SECONDS", -1)
    return Settings.load(clean="off", knowledge=False)


@pytest.fixture
async def known(model: Model, settings: Settings) -> Result:
    """A run before, in which the model was examined."""
    play(model, TOPICS)
    result = await research(QUESTION, settings)
    model.requests.clear()
    return result


def roles(model: Model) -> list[str]:
    """The shapes of the answers that were asked for, in order."""
    return [request.schema_name for request in model.requests]


@pytest.mark.parametrize(
    ("calls", "written"),
    [
        (1, 1),
        (6, 2),
        *(pytest.param(*each, marks=pytest.mark.full) for each in ((2, 1), (4, 2), (8, 3))),
    ],
)
@pytest.mark.usefixtures("known")
async def test_with_few_calls_the_model_still_writes(
    model: Model, settings: Settings, calls: int, written: int
) -> None:
    result = await research(QUESTION, settings.with_(calls=calls))
    assert roles(model).count("SectionAnswer") == written
    assert result.usage.model_calls == len(model.requests) <= calls
    assert result.citations


@pytest.mark.usefixtures("known")
async def test_few_tokens_do_for_all_roles_where_these_use_few(
    model: Model, settings: Settings
) -> None:
    enough = await research(QUESTION, settings)
    used = enough.usage.tokens_in + enough.usage.tokens_out
    asked = sorted(roles(model))
    model.requests.clear()
    few = used * 3 // 2
    assert few < 3 * 10_000, "three answers side by side may have more than that"
    result = await research(QUESTION, settings.with_(tokens=few, reply_tokens=10_000))
    assert sorted(roles(model)) == asked
    assert result.status == "completed"
    assert not [p for p in result.problems if "budget" in p.reason]
    assert result.usage.tokens_in + result.usage.tokens_out <= few


@pytest.mark.usefixtures("known")
async def test_little_money_does_for_a_run_that_costs_less(
    model: Model, settings: Settings
) -> None:
    """A run of some seven tenths of the limit is made, by a model whose longest answer alone would
    cost more than all of it.
    """
    free = await research(QUESTION, settings)
    asked = sorted(roles(model))
    told, said = free.usage.tokens_in, free.usage.tokens_out
    dear = 0.144 / (told + 8 * said) * 1_000_000
    prices = {"world-model": (dear, 8 * dear)}
    model.requests.clear()
    result = await research(QUESTION, settings.with_(money=0.2, prices=prices, reply_tokens=20_000))
    assert 20_000 * 8 * dear / 1_000_000 > 0.2
    assert sorted(roles(model)) == asked
    assert result.usage.money == pytest.approx(0.144, rel=0.15)
    assert result.usage.money <= 0.2

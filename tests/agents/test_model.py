"""The model client against a real server: the ladder, repair, retries, ceilings, the journal."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from spadework.agents.model import Model
from spadework.budget import Budget
from spadework.errors import BadReply, BudgetSpent, ModelError
from spadework.prompts import Prompt
from spadework.settings import Settings
from spadework.tools.journal import Journal
from tests.world.fault import Fault
from tests.world.model import Model as Server


class Verse(BaseModel):
    """A line of verse."""

    words: str
    feet: int


PROMPT = Prompt("You write verse.", "One line, please.")
GOOD = {"words": "the sea is calm tonight", "feet": 3}


@pytest.fixture
async def client(model: Server, tmp_path: Path) -> AsyncIterator[tuple[Model, Budget]]:
    settings = Settings.load(openai_base_url=model.url, openai_api_key="sk-world-0123456789", model="openai:world-model", prices={})
    budget = Budget(calls=20)
    journal = await Journal.open(tmp_path / "journal.sqlite", budget)
    client = Model(settings, budget, journal)
    yield client, budget
    await client.close()
    await journal.close()


async def test_an_answer_comes_typed_by_json_schema_in_one_call(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("Verse", GOOD)
    answer = await client[0].ask("writer", PROMPT, Verse, seconds=10)
    assert answer == Verse(**GOOD)
    assert [request.shape for request in model.requests] == ["json_schema"]
    assert client[1].used.model_calls == 1
    assert client[1].used.tokens_in > 0
    assert client[1].used.money is None, "no price is known for this model"


@pytest.mark.parametrize(
    ("faults", "shapes"),
    [
        (["reject_json_schema"], ["json_schema", "tool"]),
        (["reject_json_schema", "reject_tools"], ["json_schema", "tool", "json_object"]),
    ],
)
async def test_the_ladder_goes_down_and_the_rung_is_remembered(
    model: Server, client: tuple[Model, Budget], faults: list[str], shapes: list[str]
) -> None:
    model.script("", GOOD)
    for fault in faults:
        model.script("", Fault(fault))  # type: ignore[arg-type]
    for n in range(2):
        assert await client[0].ask("writer", Prompt("You write verse.", f"Line {n}."), Verse, seconds=10) == Verse(**GOOD)
    assert [request.shape for request in model.requests] == [*shapes, shapes[-1]]


async def test_a_wrong_shape_is_repaired_once_with_the_fault_named(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", '{"words": "too short"}', GOOD)
    assert await client[0].ask("writer", PROMPT, Verse, seconds=10) == Verse(**GOOD)
    assert "feet" in model.requests[1].prompt


async def test_an_answer_that_stays_wrong_is_a_bad_reply(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", "I would rather not.")
    with pytest.raises(BadReply, match="asked shape"):
        await client[0].ask("writer", PROMPT, Verse, seconds=10)
    assert len(model.requests) == 2


async def test_a_thought_or_a_fence_around_the_json_does_no_harm(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", '<think>Hm, {"words": 1}?</think>\n```json\n{"words": "calm", "feet": 1}\n```')
    assert (await client[0].ask("writer", PROMPT, Verse, seconds=10)).words == "calm"


async def test_a_busy_endpoint_is_asked_again_after_the_time_it_names(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", Fault("limited", retry_after=0.2), GOOD)
    await client[0].ask("writer", PROMPT, Verse, seconds=10)
    first, second = model.requests
    assert second.record.started - first.record.started >= 0.2
    assert client[1].used.model_calls == 2, "every request that was sent is charged"


@pytest.mark.parametrize("kind", ["error", "dropped", "empty", "truncated", "refusal", "unauthorized"])
async def test_a_broken_endpoint_is_a_model_error_that_holds_no_key(model: Server, client: tuple[Model, Budget], kind: str) -> None:
    model.script("", Fault(kind))  # type: ignore[arg-type]
    with pytest.raises(ModelError) as raised:
        await client[0].ask("writer", PROMPT, Verse, seconds=20)
    assert "sk-world" not in str(raised.value)


async def test_a_hanging_endpoint_ends_at_the_deadline(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", Fault("hang"))
    with pytest.raises(ModelError, match="in time"):
        await client[0].ask("writer", PROMPT, Verse, seconds=0.5)


async def test_a_request_that_is_too_long_is_cut_and_sent_again(model: Server, client: tuple[Model, Budget]) -> None:
    model.context_tokens = 1_500
    model.script("", GOOD)
    long = Prompt("You write verse.", "word " * 1_900)
    assert await client[0].ask("writer", long, Verse, seconds=10) == Verse(**GOOD)
    assert len(model.requests[1].prompt) < 0.75 * len(model.requests[0].prompt)


async def test_the_ceiling_on_calls_holds(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", GOOD)
    client[1].add(model_calls=20)
    with pytest.raises(BudgetSpent):
        await client[0].ask("writer", PROMPT, Verse, seconds=10)
    assert not model.requests


async def test_the_same_request_is_paid_once(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", GOOD)
    for _ in range(2):
        await client[0].ask("writer", PROMPT, Verse, seconds=10)
    assert len(model.requests) == 1

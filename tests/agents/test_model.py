"""The model client against a real server: the ladder, repair, retries, ceilings, the journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from spadework.agents.llm.client import REST, Model
from spadework.budget import Budget
from spadework.errors import BadReply, BudgetSpent, ModelError
from spadework.prompts import Prompt
from spadework.settings import Settings
from spadework.tools.stores.journal import Journal, Record
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model as Server
from tests.world.timing import peak


class Verse(BaseModel):
    """A line of verse."""

    words: str
    feet: int


PROMPT = Prompt("You write verse.", "One line, please.")
GOOD = {"words": "the sea is calm tonight", "feet": 3}


@asynccontextmanager
async def asking(model: Server, home: Path, **changes: Any) -> AsyncIterator[tuple[Model, Budget]]:
    """A client of the scripted server, with `changes` of its settings."""
    given = {
        "openai_base_url": model.url,
        "openai_api_key": "sk-world-0123456789",
        "model": "openai:world-model",
        "prices": {},
    }
    budget = Budget(calls=100)
    journal = await Journal.open(home / "journal.sqlite", budget)
    client = Model(Settings.load(**given | changes), budget, journal)
    yield client, budget
    await client.close()
    await journal.close()


@pytest.fixture
async def client(model: Server, tmp_path: Path) -> AsyncIterator[tuple[Model, Budget]]:
    async with asking(model, tmp_path) as made:
        yield made


async def test_an_answer_comes_typed_by_json_schema_in_one_call(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.script("Verse", GOOD)
    answer = await client[0].ask("writer", PROMPT, Verse, seconds=60)
    assert answer == Verse(**GOOD)
    assert [request.shape for request in model.requests] == ["json_schema"]
    assert client[1].used.model_calls == 1
    assert client[1].used.tokens_in > 0
    assert client[1].used.money is None, "no price is known for this model"


async def _unwritten(_: bytes) -> None:
    """Keep no record on disk."""


async def test_a_call_that_is_cut_off_is_counted_with_what_was_sent(
    model: Server, tmp_path: Path
) -> None:
    model.delay = 5
    async with asking(model, tmp_path, prices={"world-model": (1.0, 10.0)}) as (client, budget):
        client.record = Record(_unwritten)
        with pytest.raises(ModelError, match="in time"):
            await client.ask("writer", PROMPT, Verse, seconds=0.5)
        [told] = client.record.events
        used = budget.used
    assert (used.model_calls, used.model_errors, used.tokens_out) == (1, 1, 0)
    assert used.tokens_in > 10
    assert used.money == pytest.approx(used.tokens_in / 1_000_000)
    assert (told.verdict, told.tokens_in, told.money) == ("late", used.tokens_in, used.money)
    async with asking(model, tmp_path) as (_, later):
        assert later.used.tokens_in == used.tokens_in, "who takes the run up knows what it took"


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
        assert await client[0].ask(
            "writer", Prompt("You write verse.", f"Line {n}."), Verse, seconds=10
        ) == Verse(**GOOD)
    assert [request.shape for request in model.requests] == [*shapes, shapes[-1]]


async def test_a_run_that_is_taken_up_may_meet_a_server_that_takes_another_rung(
    model: Server, tmp_path: Path
) -> None:
    model.script("", GOOD)
    async with asking(model, tmp_path) as (first, _):
        assert await first.ask("writer", PROMPT, Verse, seconds=30) == Verse(**GOOD)
    model.script("", Fault("reject_json_schema"))
    async with asking(model, tmp_path) as (second, _):
        prompt = PROMPT._replace(user="Another line, please.")
        assert await second.ask("writer", prompt, Verse, seconds=30) == Verse(**GOOD)
    assert [request.shape for request in model.requests] == ["json_schema", "json_schema", "tool"]


async def test_a_wrong_shape_is_repaired_once_with_the_fault_named(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.script("", '{"words": "too short"}', GOOD)
    assert await client[0].ask("writer", PROMPT, Verse, seconds=10) == Verse(**GOOD)
    assert "feet" in model.requests[1].prompt


async def test_an_answer_that_stays_wrong_is_a_bad_reply(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.script("", "I would rather not.")
    with pytest.raises(BadReply, match="requested format"):
        await client[0].ask("writer", PROMPT, Verse, seconds=10)
    assert len(model.requests) == 2


async def test_a_thought_or_a_fence_around_the_json_does_no_harm(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.script("", '<think>Hm, {"words": 1}?</think>\n```json\n{"words": "calm", "feet": 1}\n```')
    assert (await client[0].ask("writer", PROMPT, Verse, seconds=10)).words == "calm"


async def test_a_busy_endpoint_is_asked_again_after_the_time_it_names(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.script("", Fault("limited", retry_after=0.2), GOOD)
    await client[0].ask("writer", PROMPT, Verse, seconds=10)
    first, second = model.requests
    assert second.record.started - first.record.started >= 0.2
    assert client[1].used.model_calls == 2, "every request that was sent is charged"


@pytest.mark.parametrize(
    "kind", ["error", "dropped", "empty", "truncated", "refusal", "unauthorized"]
)
async def test_a_broken_endpoint_is_a_model_error_that_holds_no_key(
    model: Server, client: tuple[Model, Budget], kind: str
) -> None:
    model.script("", Fault(kind))  # type: ignore[arg-type]
    with pytest.raises(ModelError) as raised:
        await client[0].ask("writer", PROMPT, Verse, seconds=20)
    assert "sk-world" not in str(raised.value)


async def test_a_hanging_endpoint_ends_at_the_deadline(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.script("", Fault("hang"))
    with pytest.raises(ModelError, match="in time"):
        await client[0].ask("writer", PROMPT, Verse, seconds=0.5)


async def test_a_request_that_is_too_long_is_cut_and_sent_again(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.context_tokens = 1_500
    model.script("", GOOD)
    long = Prompt("You write verse.", "word " * 1_900)
    assert await client[0].ask("writer", long, Verse, seconds=10) == Verse(**GOOD)
    assert len(model.requests[1].prompt) < 0.75 * len(model.requests[0].prompt)


async def test_the_ceiling_on_calls_holds(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", GOOD)
    client[1].add(model_calls=100)
    with pytest.raises(BudgetSpent):
        await client[0].ask("writer", PROMPT, Verse, seconds=10)
    assert not model.requests


async def test_the_same_request_is_paid_once(model: Server, client: tuple[Model, Budget]) -> None:
    model.script("", GOOD)
    for _ in range(2):
        await client[0].ask("writer", PROMPT, Verse, seconds=10)
    assert len(model.requests) == 1


async def test_a_busy_endpoint_is_asked_by_fewer_at_once(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.most_at_once, model.delay = 4, 0.05
    model.script("", GOOD)
    prompts = [Prompt("You write verse.", f"Line {n}.") for n in range(12)]
    answers = await asyncio.gather(
        *(client[0].ask("writer", prompt, Verse, seconds=60) for prompt in prompts)
    )
    assert answers == [Verse(**GOOD)] * 12
    assert len(model.requests) < 30, "who was told to wait does not storm the door"
    model.asked.clear()
    model.requests.clear()
    more = [Prompt("You write verse.", f"Another {n}.") for n in range(8)]
    await asyncio.gather(*(client[0].ask("writer", prompt, Verse, seconds=60) for prompt in more))
    assert peak(request.record for request in model.requests) <= 8


async def test_as_many_calls_at_once_as_the_setting_allows(model: Server, tmp_path: Path) -> None:
    model.delay = 0.1
    model.script("", GOOD)
    prompts = [Prompt("You write verse.", f"Line {n}.") for n in range(9)]
    async with asking(model, tmp_path, model_parallel=3) as (client, _):
        await asyncio.gather(
            *(client.ask("writer", prompt, Verse, seconds=60) for prompt in prompts)
        )
    assert peak(request.record for request in model.requests) == 3


async def test_all_sessions_together_ask_for_as_much_at_once_as_the_setting_allows(
    model: Server, tmp_path: Path
) -> None:
    model.delay = 0.05
    model.script("", GOOD)
    sessions = 6
    async with AsyncExitStack() as opened:
        clients = []
        for n in range(sessions):
            (folder := tmp_path / str(n)).mkdir()
            client, _ = await opened.enter_async_context(asking(model, folder, model_parallel=2))
            clients.append(client)
        await asyncio.gather(
            *(
                client.ask("writer", Prompt("You write verse.", f"Line {n}."), Verse, seconds=60)
                for client in clients
                for n in range(3)
            )
        )
    assert len(model.requests) == sessions * 3
    assert peak(request.record for request in model.requests) == 2


@pytest.mark.parametrize("kind", ["error", "quota", "unauthorized", "refusal"])
async def test_the_fallback_model_answers_where_the_role_s_own_fails(
    model: Server, tmp_path: Path, kind: str
) -> None:
    model.script("", GOOD)
    model.script(_first_model, Fault(kind))  # type: ignore[arg-type]
    async with asking(model, tmp_path, fallback_model="openai:spare") as (client, _):
        for n in range(2):
            assert await client.ask(
                "writer", Prompt("You write verse.", f"Line {n}."), Verse, seconds=30
            ) == Verse(**GOOD)
        news = client.news("writer")
        assert not client.news("writer"), "told once"
    assert all(
        problem.subject == "openai:world-model" and "openai:spare" in problem.effect
        for problem in news
    )
    own = [request for request in model.requests if request.model == "world-model"]
    assert len(own) == {"error": 3, "quota": 1, "unauthorized": 1, "refusal": 2}[kind], (
        "an endpoint that failed is left alone"
    )


async def test_a_plan_is_taken_from_the_third_reply_where_two_have_no_shape(
    model: Server, client: tuple[Model, Budget]
) -> None:
    model.script("", "A gateway says hello.", "Still warming up.", GOOD)
    assert await client[0].ask("lead", PROMPT, Verse, seconds=30) == Verse(**GOOD)


async def test_a_model_whose_server_is_well_again_gets_its_work_back(
    model: Server, tmp_path: Path
) -> None:
    model.script("", GOOD)
    model.script(_first_model, *[Fault("error")] * 3, GOOD)
    async with asking(model, tmp_path, fallback_model="openai:spare") as (client, _):
        for n in range(REST + 2):
            await client.ask("writer", Prompt("You write.", f"Line {n}."), Verse, seconds=30)
    asked = [request.model for request in model.requests]
    assert asked == [*["world-model"] * 3, *["spare"] * (REST + 1), "world-model"]


async def test_a_model_that_answered_after_it_was_late_is_not_late_any_more(
    model: Server, tmp_path: Path
) -> None:
    model.script("", Fault("hang"), GOOD)
    async with asking(model, tmp_path) as (client, _):
        with pytest.raises(ModelError):
            await client.ask("writer", PROMPT, Verse, seconds=0.5)
        assert await client.speed("writer") == 0
        await client.ask("writer", Prompt("You write.", "Line 2."), Verse, seconds=30)
        assert await client.speed("writer") != 0


async def test_a_hanging_model_leaves_time_for_the_fallback(model: Server, tmp_path: Path) -> None:
    model.script("", GOOD)
    model.script(_first_model, Fault("hang"))
    async with asking(model, tmp_path, fallback_model="openai:spare") as (client, _):
        assert await client.ask("writer", PROMPT, Verse, seconds=1.5) == Verse(**GOOD)


async def test_the_fallback_may_be_another_server(model: Server, tmp_path: Path) -> None:
    model.script("", GOOD)
    gone = "http://127.0.0.1:9/v1"
    async with asking(
        model,
        tmp_path,
        openai_base_url=gone,
        fallback_model="openai:spare",
        fallback_base_url=model.url,
    ) as (client, _):
        assert await client.ask("writer", PROMPT, Verse, seconds=30) == Verse(**GOOD)
    assert {request.model for request in model.requests} == {"spare"}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("counts", [True, False])
async def test_usage_and_money_are_known_whether_the_server_counts_or_not(
    model: Server, tmp_path: Path, stream: bool, counts: bool
) -> None:
    model.script("", GOOD)
    model.counts, model.streams_only = counts, stream
    prices = {"world-model": (1.0, 10.0)}
    async with asking(model, tmp_path, prices=prices) as (client, budget):
        assert await client.ask("writer", PROMPT, Verse, seconds=10) == Verse(**GOOD)
    request = model.requests[-1]
    assert [request.stream for request in model.requests] == [False, True][: 1 + stream]
    used = budget.used
    assert used.tokens_in == pytest.approx(request.tokens_in, rel=0.5)
    assert used.tokens_out == pytest.approx(len(str(GOOD)) / 4, rel=0.5)
    assert used.money == pytest.approx((used.tokens_in + 10 * used.tokens_out) / 1_000_000)


def _first_model(request: ChatRequest) -> bool:
    return request.model == "world-model"

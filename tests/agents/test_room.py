"""The room of a request and its answer: in the model's context, which is asked, set or learned; in
what may be spent; and beside the thoughts of a model that reasons.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel

from spadework.agents.llm.client import Model
from spadework.agents.llm.limits import ANSWERS, MARGIN, REMEMBERED, usual
from spadework.budget import Budget
from spadework.errors import BadReply, BudgetSpent
from spadework.prompts import Prompt
from spadework.settings import Settings
from spadework.tools.stores.journal import Journal
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model as Server
from tests.world.script import Plain


class Verse(BaseModel):
    """A line of verse."""

    words: str
    feet: int


GOOD = {"words": "the sea is calm tonight", "feet": 3}
DEAR = {"world-model": (5.0, 25.0)}
runs = iter(range(1_000))


@asynccontextmanager
async def asking(
    server: Server, budget: Budget | None = None, **changes: Any
) -> AsyncIterator[Model]:
    """A run's client of the scripted server; every run has the same home."""
    given = {"openai_base_url": server.url, "model": "openai:world-model", "prices": {}}
    settings = Settings.load(**given | changes)
    settings.home.mkdir(parents=True, exist_ok=True)
    budget = budget or Budget()
    journal = await Journal.open(settings.home / f"{next(runs)}.sqlite", budget)
    made = Model(settings, budget, journal)
    try:
        yield made
    finally:
        await made.close()
        await journal.close()


def line(n: int, words: int = 0) -> Prompt:
    return Prompt("You write verse.", f"Line {n}. {'word ' * words}\n\nOne line, please.")


def rooms(server: Server) -> list[int]:
    """The longest answer that each request allowed."""
    return [
        request.data.get("max_tokens") or request.data["max_completion_tokens"]
        for request in server.requests
    ]


def needing(tokens: int) -> Any:
    """Good where the answer may have so many tokens, cut off where not."""

    def answer(request: ChatRequest) -> Plain:
        room = request.data.get("max_tokens") or request.data["max_completion_tokens"]
        return GOOD if room >= tokens else Fault("truncated")

    return answer


async def test_an_answer_may_be_as_long_as_the_setting_says_while_there_is_plenty(
    model: Server,
) -> None:
    model.script("", GOOD)
    async with asking(model, prices=DEAR) as client:
        await client.ask("lead", line(1), Verse, seconds=10)
    assert rooms(model) == [8_000]


@pytest.mark.parametrize(
    ("limit", "prices"), [({"tokens": 9_000}, {}), ({"money": 0.2}, DEAR), ({"money": 0.2}, {})]
)
async def test_many_at_once_fit_into_a_small_purse_by_what_their_role_usually_takes(
    model: Server, limit: dict[str, Any], prices: dict[str, Any]
) -> None:
    model.delay = 0.05
    model.script("", GOOD)
    budget = Budget(**limit)
    async with asking(model, budget, prices=prices) as client:
        answers = await asyncio.gather(
            *(client.ask("assessor", line(n), Verse, seconds=20) for n in range(8))
        )
    assert answers == [Verse(**GOOD)] * 8
    assert budget.refused == ""
    assert budget.spent("tokens") <= 9_000
    assert min(rooms(model)) >= 200


async def test_an_answer_that_was_cut_off_is_asked_again_with_more_room_if_there_is_more(
    model: Server,
) -> None:
    model.script("", needing(1_000))
    async with asking(model, Budget(tokens=6_000)) as client:
        assert await client.ask("assessor", line(1), Verse, seconds=10) == Verse(**GOOD)
    assert len(model.requests) == 2
    assert rooms(model)[0] == ANSWERS["assessor"] < rooms(model)[1]
    model.requests.clear()
    model.script("", needing(100_000))
    async with asking(model) as client:
        with pytest.raises(BadReply, match="ran out of room"):
            await client.ask("assessor", line(2), Verse, seconds=10)
    assert rooms(model) == [8_000], "it had all there is"


async def test_what_a_role_usually_takes_is_learned_and_remembered(model: Server) -> None:
    model.script("", GOOD)
    async with asking(model) as client:
        for n in range(REMEMBERED):
            await client.ask("assessor", line(n), Verse, seconds=10)
    model.requests.clear()
    async with asking(model, Budget(tokens=3_000)) as client:
        await client.ask("assessor", line(100), Verse, seconds=10)
        await client.ask("lead", line(101), Verse, seconds=10)
    assert rooms(model) == [200, ANSWERS["lead"]], "each role for itself, and never too little"


def test_the_usual_length_is_reckoned_until_enough_answers_are_known() -> None:
    assert usual("writer", (), thinks=False) == ANSWERS["writer"]
    assert usual("writer", (2_000,), thinks=False) == MARGIN * 2_000
    assert usual("writer", (50,), thinks=False) == ANSWERS["writer"]
    assert usual("writer", (50,) * REMEMBERED, thinks=True) == MARGIN * 50
    assert usual("writer", (), thinks=True) > ANSWERS["writer"]


async def test_who_cannot_pay_is_refused_by_the_purse_that_is_short(model: Server) -> None:
    model.script("", GOOD)
    for budget, said in ((Budget(tokens=250), "tokens"), (Budget(money=0.001), "money")):
        async with asking(model, budget, prices=DEAR) as client:
            with pytest.raises(BudgetSpent, match=said):
                await client.ask("lead", line(1), Verse, seconds=10)
    assert not model.requests


async def test_what_is_held_back_pays_those_who_close_the_run(model: Server) -> None:
    model.script("", GOOD)
    async with asking(model, Budget(calls=1)) as client:
        with pytest.raises(BudgetSpent, match="calls"):
            await client.ask("assessor", line(1), Verse, seconds=10)
        assert await client.ask("writer", line(1), Verse, seconds=10) == Verse(**GOOD)


@pytest.mark.parametrize(
    "tells",
    [
        {"max_model_len": 4_096},
        {"context_length": 4_096},
        {"context_window": 4_096},
        {"meta": {"n_ctx_train": 4_096, "n_params": 7}},
        {"max_context_length": 4_096, "meta": None},
    ],
)
async def test_the_context_is_asked_and_no_request_is_refused(
    model: Server, tells: dict[str, Any]
) -> None:
    model.tells, model.context_tokens = tells, 4_096
    model.script("", GOOD)
    for _ in range(2):
        async with asking(model) as client:
            for n in range(2):
                await client.ask("assessor", line(n, words=6_000), Verse, seconds=10)
    assert len(model.requests) == 4, "none was too long"
    assert [record.path for record in model.asked].count("/v1/models") == 1
    # This server counts five tokens where we count four, which its first answer teaches.
    for request, room in list(zip(model.requests, rooms(model), strict=True))[1:]:
        assert request.tokens_in + room <= 4_096
        assert room >= ANSWERS["assessor"]
        assert request.user.endswith("\n\nOne line, please.")


@pytest.mark.parametrize("tells", [{}, {"max_model_len": "4096"}, {"context_length": -1}, []])
async def test_a_list_that_does_not_say_it_does_no_harm(model: Server, tells: Any) -> None:
    model.tells = tells or {}
    model.names = ("world-model",) if tells != [] else ()
    model.script("", GOOD)
    async with asking(model) as client:
        assert await client.ask("lead", line(1, words=3_000), Verse, seconds=10) == Verse(**GOOD)
    assert len(model.requests) == 1


async def test_a_context_that_is_set_is_not_asked(model: Server) -> None:
    model.context_tokens = 2_048
    model.script("", GOOD)
    async with asking(model, context_tokens=2_048) as client:
        await client.ask("writer", line(1, words=3_000), Verse, seconds=10)
    assert len(model.requests) == 1
    assert not [record for record in model.asked if record.path == "/v1/models"]


async def test_a_context_that_is_set_too_large_is_learned(model: Server) -> None:
    model.context_tokens = 2_048
    model.script("", GOOD)
    async with asking(model, context_tokens=8_192) as client:
        await client.ask("writer", line(1, words=4_000), Verse, seconds=10)
        await client.ask("writer", line(2, words=4_000), Verse, seconds=10)
    assert len(model.requests) == 3


@pytest.mark.parametrize("name", ["gpt-5-mini", "o4-mini"])
async def test_a_model_known_to_reason_has_room_for_its_thoughts(model: Server, name: str) -> None:
    model.script("", GOOD)
    async with asking(model, model=f"openai:{name}") as client:
        await client.ask("lead", line(1), Verse, seconds=10)
    assert set(rooms(model)) == {16_000}


@pytest.mark.parametrize("told", ["usage", "text"])
async def test_a_model_that_was_seen_to_reason_has_room_for_its_thoughts(
    model: Server, told: str
) -> None:
    answer = json.dumps(GOOD)
    text = f"<think>Calm, or still?</think>{answer}" if told == "text" else answer
    model.script("", Fault("raw", words=_reply(text, thoughts=700 if told == "usage" else 0)))
    async with asking(model) as client:
        for n in range(2):
            assert await client.ask("lead", line(n), Verse, seconds=10) == Verse(**GOOD)
    async with asking(model) as client:
        await client.ask("lead", line(3), Verse, seconds=10)
    assert rooms(model) == [8_000, 16_000, 16_000]


async def test_thoughts_that_ate_the_answer_are_given_room_and_it_is_asked_again(
    model: Server,
) -> None:
    def answer(request: ChatRequest) -> Plain:
        if request.data["max_tokens"] > 8_000:
            return GOOD
        return Fault("raw", words=_reply("", thoughts=8_000, finish="length"))

    model.script("", answer)
    async with asking(model) as client:
        assert await client.ask("lead", line(1), Verse, seconds=10) == Verse(**GOOD)
    assert rooms(model) == [8_000, 16_000]


async def test_a_request_leaves_room_in_the_context_for_thoughts_and_answer(model: Server) -> None:
    model.tells = {"max_model_len": 16_000}
    model.script("", GOOD)
    async with asking(model, model="openai:o4-mini") as client:
        model.names = ("o4-mini",)
        await client.ask("writer", line(1, words=20_000), Verse, seconds=10)
    assert rooms(model)[0] >= ANSWERS["writer"] + 2_000


def _reply(text: str, *, thoughts: int, finish: str = "stop") -> str:
    """A good answer's body, with so many tokens of thought reported."""
    message = {"role": "assistant", "content": text}
    usage = {
        "prompt_tokens": 50,
        "completion_tokens": 20 + thoughts,
        "total_tokens": 70 + thoughts,
        "completion_tokens_details": {"reasoning_tokens": thoughts},
    }
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 1_772_600_000,
            "model": "world-model",
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
            "usage": usage,
        }
    )

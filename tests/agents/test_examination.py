"""The examination of a judge fits its context, and what was cut off is not counted as wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.agents.llm.examination import Examined, examine_model
from tests.agents.test_endpoint import client
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model as Server
from tests.world.script import Plain
from tests.world.verdicts import told, verdicts


async def examined(model: Server, home: Path) -> Examined:
    async with client(model.url) as asking:
        return await examine_model(asking, home, seconds=60)


@pytest.mark.parametrize(("context", "requests"), [(0, 1), (4_096, 3), (128_000, 1)])
async def test_it_goes_in_batches_where_the_context_is_small(
    model: Server, tmp_path: Path, context: int, requests: int
) -> None:
    model.tells = {"max_model_len": context} if context else {}
    model.context_tokens = context or None
    assert await examined(model, tmp_path) == Examined(asked=30, right=30, let_through=0)
    assert len(model.requests) == requests
    assert await examined(model, tmp_path) == Examined(asked=30, right=30, let_through=0)
    assert len(model.requests) == requests, "asked once for a model and server"


@pytest.mark.parametrize(
    ("cuts", "asked", "passes"), [(1, 30, True), (2, 20, True), (3, 10, False)]
)
async def test_a_reply_that_was_cut_off_is_not_wrong(
    model: Server, tmp_path: Path, cuts: int, asked: int, passes: int
) -> None:
    left: list[int] = []

    def answer(request: ChatRequest) -> Plain:
        numbers = [n for n, _ in told(request)]
        if len(numbers) > 10:
            return Fault("truncated")
        left.append(len(numbers))
        return Fault("truncated") if len(left) < cuts else verdicts(request)

    model.script("VerdictsAnswer", answer)
    result = await examined(model, tmp_path)
    assert (result.asked, result.right, result.passed) == (asked, asked, passes)

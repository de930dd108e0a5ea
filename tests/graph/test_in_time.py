"""A run ends in its time and is written by its model, whatever the pages are made of."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from benchmarks import alike
from spadework.sessions.one_call import research
from spadework.settings import Settings
from tests.world.background import Background
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

FACT = "The ferry of Port Aldermere carries exactly 212 passengers and nine cars."


@pytest.mark.parametrize("sign", ["[", "![", "9"])
async def test_a_page_of_one_sign_does_not_hold_a_run_up(
    world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch, sign: str
) -> None:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    held = sign * (100_000 // len(sign))
    urls = [
        world.put("docs", "/held", f"<title>Ferry</title><p>{FACT}</p><p>{held}</p>"),
        world.put("news", "/ferry", f"<title>Ferry</title><main><p>{FACT}</p></main>"),
    ]
    searx.script("", urls)
    play(model, {"Ferry": "ferry passengers"})
    began = time.process_time()
    result = await research("How many passengers does the ferry carry?", Settings.load())
    assert time.process_time() - began < 20
    assert FACT in {e.quote for topic in result.topics for e in topic.evidence}


@pytest.mark.full
@pytest.mark.timed
@pytest.mark.timeout(330)
@pytest.mark.parametrize("busy", [0, 6])
@pytest.mark.parametrize("sentences", alike.SIZES)
def test_deep_effort_over_near_alike_pages_ends_in_its_time(
    background: Background, tmp_path: Path, sentences: int, busy: int
) -> None:
    minutes = 4.0
    with alike.busy(busy):
        ended = alike.run(background, tmp_path, (140, sentences), minutes)
    assert ended.seconds <= 60 * minutes
    assert alike.by_model(ended.result)
    assert ended.result.citations

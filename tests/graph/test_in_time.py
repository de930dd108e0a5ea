"""A run ends in its time and is written by its model, whatever the pages are made of."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks import alike
from spadework.graph import context
from spadework.graph.context import SessionContext
from spadework.sessions.one_call import research
from spadework.sessions.replay import replay
from spadework.settings import Settings
from tests.world.background import Background
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

FACT = "The ferry of Port Aldermere carries exactly 212 passengers and nine cars."
OTHER = "The ferry of Port Aldermere carries 180 passengers in winter, and cars of any size."
PLAN = {
    "question_type": "general",
    "complexity": "moderate",
    "freshness": "any",
    "language": "en",
    "subjects": ["Port Aldermere"],
    "topics": [
        {
            "name": name,
            "question": f"How many {name.lower()} does the ferry carry?",
            "expects": "number",
            "must_cover": [],
            "queries": [{"text": f"ferry {name.lower()}", "kind": "original"}],
        }
        for name in ("Passengers", "Cars")
    ],
}


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


def hurry(monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    """Let the time of a step be over before it begins."""
    whole = SessionContext.run_in_time

    async def run_in_time(session: SessionContext, seconds: float, at: Any, work: Any) -> Any:
        return await whole(session, -1.0 if step in (at, at[0]) else seconds, at, work)

    monkeypatch.setattr(context, "LEAST_SECONDS", -1.0)
    monkeypatch.setattr(SessionContext, "run_in_time", run_in_time)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        ("distil", "look for passages in"),
        ("copies", "compare all pages that were read"),
        ("confirm", "confirm or contradict it"),
        ("enter", "record"),
        ("disputes", "compare all quotes"),
    ],
)
async def test_a_step_whose_time_is_over_stops_with_what_it_has_and_says_so(
    world: World,
    searx: Searx,
    model: Model,
    monkeypatch: pytest.MonkeyPatch,
    step: str,
    reason: str,
) -> None:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    urls = [
        world.put(site, "/ferry", f"<title>Ferry</title><main><p>{said}</p></main>")
        for site, said in (("docs", FACT), ("news", OTHER))
    ]
    searx.script("", urls)
    play(model, {})
    model.script("PlanAnswer", PLAN)
    with monkeypatch.context() as hurried:
        hurry(hurried, step)
        result = await research("How many passengers does the ferry carry?", Settings.load())
    told = [p.reason for p in result.problems if reason in p.reason]
    assert told
    assert told[0].rstrip(".") in result.report
    assert result.status == "completed"
    assert bool(result.citations) == (step != "enter")
    again = await replay(Settings.load().home, result.session_id)
    assert (again.result.report, [*again.missing]) == (result.report, [])


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

"""A round adds or reorders evidence, whoever judges: nothing found by the one before is lost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import aclosing
from itertools import pairwise
from typing import Any

import pytest

from spadework.graph import finish
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Coverage, Result
from tests.world.brain import play
from tests.world.chat import ChatRequest
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World
from tests.world.verdicts import told

QUESTION = "Who is the mother of the keeper of Merrow Light?"
LIGHT = (
    "Merrow Light is a lighthouse on the east coast. The keeper of Merrow Light is Jory"
    " Penhallow, who has tended its lamp since the spring of 1987."
)
KEEPER = (
    "Jory Penhallow is a lighthouse keeper. The mother of Jory Penhallow is Demelza Carne, who"
    " wove nets in the harbour of Polgarth for forty years."
)
OTHER = (
    "The harbour of Polgarth has two quays, and its market is held on the first day of each month."
    " Nets are woven there, and ropes of hemp are laid."
)
PAGE = "<title>{0}</title><main><h1>{0}</h1><p>{1}</p></main>"


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    """A question whose answer stands on the page of somebody whom only the first page names, and a
    third page, which every later search brings and which says nothing of it.
    """
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    light = world.put("encyclopedia", "/light", PAGE.format("Merrow Light", LIGHT))
    keeper = world.put("blog", "/keeper", PAGE.format("Jory Penhallow", KEEPER))
    other = world.put("forum", "/polgarth", PAGE.format("Polgarth", OTHER))
    searx.script("", [other])
    searx.script("Merrow", [light])
    searx.script("Penhallow", [keeper])
    monkeypatch.setattr(finish, "MARGINAL_UTILITY", 0)
    return Settings.load(iterations=3, knowledge=False)


def plan(model: Model) -> None:
    """A model that plans one topic, and finds it proven by a word of the answer."""
    play(
        model,
        {"Mother": "Merrow Light keeper mother"},
        keywords={"Mother": "Demelza"},
        gaps={"Mother": "Jory Penhallow"},
    )


def passes(model: Model) -> None:
    """It judges, honestly."""
    plan(model)


def fails_its_examination(model: Model) -> None:
    """It calls everything supported."""
    plan(model)
    model.script(
        "VerdictsAnswer",
        lambda r: {
            "verdicts": [{"number": n, "verdict": "supported", "missing": ""} for n, _ in told(r)]
        },
    )


def answers_nothing(model: Model) -> None:
    """It answers with an empty object, whatever it is asked."""
    model.script("", "{}")


def dies_midway(model: Model) -> None:
    """It judges the first round and fails from then on."""
    plan(model)
    model.script("AssessmentAnswer", _first_assessed(model), Fault("error"))


def is_slow(model: Model) -> None:
    """It takes two seconds for each judgement."""
    plan(model)
    model.delays = {"AssessmentAnswer": 2.0}


def _first_assessed(model: Model) -> Callable[[ChatRequest], Any]:
    def assess(request: ChatRequest) -> dict[str, Any]:
        quality = dict.fromkeys(
            ("accuracy", "completeness", "relevance", "source_quality", "clarity"), 8
        )
        return {
            "covered": False,
            "score": 0.6,
            "evidence": [{"quote": LIGHT.partition(". ")[2]}],
            "gaps": ["Who the mother is."],
            "gap_queries": [
                {"query": "Jory Penhallow", "purpose": "the mother", "priority": "high"}
            ],
            "quality": quality,
        }

    return assess


async def rounds_of(settings: Settings) -> tuple[list[dict[str, Coverage]], Result]:
    """The coverage after each round of a run, and its result."""
    rounds: list[dict[str, Coverage]] = []
    result = None
    async with aclosing(Session.start(QUESTION, settings=settings).events()) as events:
        async for event in events:
            if event.type == "assessed":
                rounds.append({found.topic: found for found in event.coverage})
            elif event.type == "finished":
                result = event.result
    assert result is not None
    return rounds, result


@pytest.mark.parametrize(
    "playing",
    [None, passes, fails_its_examination, answers_nothing, dies_midway, is_slow],
    ids=lambda playing: playing.__name__ if playing else "no model",
)
async def test_no_round_loses_what_an_earlier_one_has_found(
    model: Model,
    settings: Settings,
    monkeypatch: pytest.MonkeyPatch,
    playing: Callable[[Model], None] | None,
) -> None:
    if playing:
        playing(model)
        for name, value in model.env.items():
            monkeypatch.setenv(name, value)
        settings = Settings.load(
            iterations=3, knowledge=False, minutes=1 if playing is is_slow else 10
        )
    rounds, result = await rounds_of(settings)
    assert len(rounds) > 1 or playing is is_slow
    for before, after in pairwise(rounds):
        for topic, old in before.items():
            assert set(old.evidence_ids) <= set(after[topic].evidence_ids)
            assert after[topic].covered or not old.covered
    assert "Demelza Carne" in result.report

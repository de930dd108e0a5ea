"""What the plan says must be told is answered, or said to be open."""

from __future__ import annotations

from typing import Any

import pytest

from spadework.sessions.one_call import research
from spadework.settings import Settings
from tests.world.brain import assessment, outline, play
from tests.world.chat import ChatRequest
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

CENSUS = "At the census of 2021 the town had 48,212 inhabitants"
MUSTS = ("year of the census", "price of a ticket")


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, {"Inhabitants": "Port Aldermere inhabitants", "Harbour": "Aldermere harbour"})

    def plan(request: ChatRequest) -> dict[str, Any]:
        topics = [
            {
                "name": name,
                "question": f"What about {name}?",
                "must_cover": [must],
                "queries": [{"text": f"Port Aldermere {name.lower()}", "kind": "original"}],
            }
            for name, must in zip(("Inhabitants", "Harbour"), MUSTS, strict=True)
        ]
        head = {"question_type": "general", "complexity": "moderate", "freshness": "any"}
        return head | {"language": "en", "subjects": ["Port Aldermere"], "topics": topics}

    model.script("PlanAnswer", plan)
    return Settings.load()


def leaving_open(*numbers: int) -> Any:
    """An outline that says that these are open."""
    return lambda request: outline(request) | {"open": list(numbers)}


@pytest.mark.parametrize(("numbers", "open_ones"), [((2,), MUSTS[1:]), ((), ()), ((1, 2), MUSTS)])
async def test_a_must_have_that_no_entry_answers_is_said_to_be_open(
    model: Model, settings: Settings, numbers: tuple[int, ...], open_ones: tuple[str, ...]
) -> None:
    model.script("OutlineAnswer", leaving_open(*numbers))
    result = await research("What is known of Port Aldermere?", settings)
    [asked] = [r for r in model.requests if r.schema_name == "OutlineAnswer"]
    assert f"1. {MUSTS[0]} (Inhabitants)\n2. {MUSTS[1]} (Harbour)\n" in asked.user
    line = f"Missing: {'; '.join(open_ones)}."
    assert (line in result.report) == bool(open_ones)


async def test_what_an_answered_topic_lacks_was_not_searched_for_and_is_not_said_to_be_missing(
    model: Model, settings: Settings
) -> None:
    def assess(request: ChatRequest) -> dict[str, Any]:
        told = assessment([CENSUS], covered=True)
        return told | {"gaps": ["what a keeper of the harbour earned", "who paid"]}

    model.script("AssessmentAnswer", assess)
    model.script("OutlineAnswer", leaving_open(2, 3))
    result = await research("What is known of Port Aldermere?", settings)
    assert all(topic.covered for topic in result.topics)
    assert f"Missing: {MUSTS[1]}." in result.report
    assert "keeper of the harbour" not in result.report

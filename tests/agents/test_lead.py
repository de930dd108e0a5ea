"""The lead with a model: what becomes of its answer."""

from __future__ import annotations

import pytest

from spadework.sessions.research import research
from spadework.settings import Settings
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World


async def test_a_topic_begins_like_a_heading_but_a_name_is_left_as_it_is_written(
    model: Model, searx: Searx, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (world.env | searx.env | model.env).items():
        monkeypatch.setenv(name, value)
    play(model, {"how to find the harbour": "harbour", "pip": "census"})
    result = await research("What is known about Port Aldermere?", Settings.load(iterations=1))
    assert {topic.name for topic in result.topics} == {"How to find the harbour", "pip"}

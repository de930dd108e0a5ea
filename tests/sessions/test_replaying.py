"""Replaying: a session once more from what it has heard, without network, to the same report."""

from __future__ import annotations

from pathlib import Path

import pytest

from spadework.sessions.replaying import replay
from spadework.sessions.research import research
from spadework.settings import Settings
from tests.world.brain import play
from tests.world.fault import Fault
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}


@pytest.fixture
def with_model(
    world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, TOPICS)
    return Settings.load()


@pytest.fixture
def on_the_web(world: World, searx: Searx, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env}.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


def silence(world: World, searx: Searx, model: Model) -> None:
    """Nothing answers any more, and all that was asked is forgotten."""
    world.reset()
    searx.reset()
    model.reset()
    world.hang_everything = True


async def test_a_session_with_a_model_is_replayed_to_the_same_report(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    result = await research(QUESTION, with_model)
    asked = len(model.requests)
    assert result.citations
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert done.same
    assert (done.new, done.missing) == (0, ())
    assert done.replayed > asked > 3
    assert not world.requests
    assert not searx.queries
    assert not model.asked


async def test_a_session_without_a_model_is_replayed_to_the_same_report(
    on_the_web: Settings, world: World, searx: Searx, model: Model
) -> None:
    result = await research("How many inhabitants has Port Aldermere?", on_the_web)
    assert result.citations
    silence(world, searx, model)
    done = await replay(on_the_web.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing
    assert not world.requests


async def test_a_session_with_a_library_is_replayed_when_its_files_are_gone(
    settings: Settings, notes: Path
) -> None:
    result = await research("How is the Quillon used?", settings)
    assert result.citations
    for file in notes.iterdir():
        file.unlink()
    done = await replay(settings.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing


async def test_a_session_in_which_much_went_wrong_is_replayed_to_the_same_report(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    model.script("AssessmentAnswer", "No JSON at all.", Fault("truncated"), Fault("refusal"))
    model.script("", Fault("reject_json_schema"))
    searx.fail("truncated", query="lighthouse")
    world.hanging = {"news"}
    settings = with_model.with_(page_seconds=2, slow_page_seconds=0.3, model_seconds=5)
    result = await research(QUESTION, settings)
    assert {"assessor", "search"} <= {problem.stage for problem in result.problems}
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing


async def test_a_model_that_hangs_has_hung_in_the_replay_too(
    with_model: Settings, world: World, searx: Searx, model: Model
) -> None:
    model.script("SectionAnswer", Fault("hang"))
    result = await research(QUESTION, with_model.with_(model_seconds=1))
    assert any("in time" in problem.reason for problem in result.problems)
    silence(world, searx, model)
    done = await replay(with_model.home, result.session_id)
    assert done.result.report == result.report
    assert not done.missing

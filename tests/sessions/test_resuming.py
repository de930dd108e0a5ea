"""A run that is killed and taken up: what a kill leaves is the home as it is at that moment."""

from __future__ import annotations

from typing import Any

import pytest

from spadework.graph import finish as closing, research
from spadework.sessions.replay import replay
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.fetch import page_reader
from spadework.tools.ranking.vectors import Vectors
from spadework.tools.search.failover import SearchCache
from tests.sessions.killed import Killed, before
from tests.world.brain import play
from tests.world.embedding import Embeddings
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}


@pytest.fixture
def settings(world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, TOPICS)
    return Settings.load()


async def test_a_page_that_came_and_was_being_read_is_not_fetched_again(
    settings: Settings, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings.with_(cache_mb=0)
    killed = Killed(settings)
    monkeypatch.setattr(page_reader, "read_apart", before(killed, page_reader.read_apart))
    result = await Session.start(QUESTION, settings=settings).result()
    came = {record.path for record in world.requests if record.path != "/robots.txt"}
    assert killed.done
    world.requests.clear()
    resumed, session = await killed.resumed()
    again = {record.path for record in world.requests} & came
    assert len(again) < len(came)
    assert resumed.report == result.report
    assert session.budget.used.fetches == result.usage.fetches
    done = await replay(session.settings.home, session.session_id)
    assert done.result.report == result.report
    assert not done.missing


async def test_a_search_is_charged_before_others_can_have_it_for_nothing(
    settings: Settings, searx: Searx, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed, put = Killed(settings), SearchCache.put

    async def kept(*args: Any) -> None:
        await put(*args)
        killed.here()

    monkeypatch.setattr(SearchCache, "put", kept)
    result = await Session.start(QUESTION, settings=settings).result()
    resumed, session = await killed.resumed()
    assert session.budget.used.searches == result.usage.searches > 1
    assert len(searx.queries) == 2 * result.usage.searches - 1, "but for the one that was kept"
    assert resumed.report == result.report


async def test_who_wrote_a_report_is_known_to_whom_only_saves_it(
    settings: Settings, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = Killed(settings)
    monkeypatch.setattr(research, "result_of", before(killed, closing.result_of))
    result = await Session.start(QUESTION, settings=settings).result()
    for asked in (world.requests, searx.requests, model.asked):
        asked.clear()
    resumed, _ = await killed.resumed()
    assert resumed.mode == result.mode == "model"
    assert resumed.report == result.report
    assert not [*world.requests, *searx.requests, *model.asked]


async def test_what_the_examination_took_is_not_held_back_for_writing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = Killed(settings)
    monkeypatch.setattr(research, "compose_report", before(killed, research.compose_report))
    first = Session.start(QUESTION, settings=settings)
    await first.result()
    _, session = await killed.resumed()
    assert first.budget.early["tokens"] > 0
    assert session.budget.early == first.budget.early


async def test_embeddings_are_charged_before_their_vectors_are_kept(
    settings: Settings, embeddings: Embeddings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = settings.with_(embeddings="openai:m", embeddings_url=embeddings.url)
    killed = Killed(settings)
    monkeypatch.setattr(Vectors, "keep", before(killed, Vectors.keep))
    result = await Session.start(QUESTION, settings=settings).result()
    assert killed.done
    assert result.usage.embedding_calls
    _, session = await killed.resumed()
    assert session.budget.used.embedding_calls == len(embeddings.requests)


async def test_the_list_of_models_is_asked_for_once(
    settings: Settings, model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = Killed(settings)
    monkeypatch.setattr(page_reader, "read_apart", before(killed, page_reader.read_apart))
    await Session.start(QUESTION, settings=settings).result()
    await killed.resumed()
    assert [record.path for record in model.asked].count("/v1/models") == 1

"""A session that is submitted is run by a worker, shown by whoever watches it, and known to all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from spadework.sessions.machines.working import work
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}

pytestmark = pytest.mark.machines


@pytest.fixture
def settings(
    database: str, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, TOPICS)
    return Settings.load()


@asynccontextmanager
async def worker(settings: Settings) -> AsyncIterator[None]:
    """A worker in this process."""
    ready = asyncio.Event()
    working = asyncio.create_task(work(settings, 2, lambda told: ready.set()))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
    try:
        yield
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)


async def test_a_session_is_run_by_a_worker_with_a_home_of_its_own(settings: Settings) -> None:
    elsewhere = settings.with_(home=settings.home / "elsewhere")
    session = Session.start(QUESTION, settings=settings)
    async with worker(elsewhere):
        result = await session.result()
    assert result.status == "completed"
    assert "38" in result.report or "41" in result.report
    assert result.session_dir == str(session.folder)
    assert (elsewhere.home / "sessions" / session.session_id / "result.json").exists()
    assert (session.folder / "result.json").exists()
    assert not (session.folder / "session.sqlite").exists()

"""How workers end: told to, they take nothing new and finish what runs, or leave it to others; so
one after the other is replaced and no session notices. What they say of themselves meanwhile.
"""

from __future__ import annotations

import asyncio
import re
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import psycopg
import pytest

from spadework.machines import queue
from spadework.machines.worker import work
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.machines.fleet import Fleet, asked_again, paid_twice, play_cases, question
from tests.machines.test_shared_sessions import eventually, worker
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = [pytest.mark.machines, pytest.mark.slow]


@pytest.fixture
def env(database: str, world: World, searx: Searx, model: Model) -> dict[str, str]:
    play_cases(model)
    return {**world.env, **searx.env, **model.env, "SPADEWORK_DATABASE_URL": database}


@pytest.fixture
def settings(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return Settings.load()


async def taken_by(fleet: Fleet, number: int) -> None:
    await eventually(lambda: fleet.runs(number))


def owners(database: str) -> list[tuple[str, int]]:
    """Who has run which session last, and how often each was taken, the oldest first."""
    asked = "SELECT worker, run FROM spadework.sessions ORDER BY id"
    with psycopg.connect(database) as connection:
        return [(str(worker), int(run)) for worker, run in connection.execute(asked)]


@pytest.mark.timeout(240)
async def test_a_worker_that_is_told_to_end_finishes_what_it_runs(
    env: dict[str, str], settings: Settings, model: Model, database: str, tmp_path: Path
) -> None:
    model.delay = 0.2
    with Fleet(tmp_path, {**env, "SPADEWORK_DRAIN_SECONDS": "120"}, sessions=2) as fleet:
        fleet.start(1)
        running = asyncio.create_task(Session.start(question(1), settings=settings).result())
        await taken_by(fleet, 1)
        fleet.signal(1, signal.SIGTERM)
        late = asyncio.create_task(Session.start(question(2), settings=settings).result())
        result = await running
        assert await asyncio.to_thread(fleet.left, 1) == 0
        assert result.status == "completed"
        assert sorted(run for _, run in owners(database)) == [0, 1], "what came later waits"
        assert not late.done()
        fleet.start(2)
        assert (await late).status == "completed"
    assert "Traceback" not in fleet.logs()


async def test_a_session_stays_with_a_worker_that_drains_for_longer_than_a_lease(
    settings: Settings, model: Model, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queue, "LEASE_SECONDS", 4.0)
    monkeypatch.setattr(queue, "BEAT_SECONDS", 0.5)
    monkeypatch.setattr(queue, "SWEEP_SECONDS", 0.5)
    model.delay = 3
    told = asyncio.Event()
    machine = settings.with_(home=settings.home / "elsewhere", drain_seconds=120)
    draining = asyncio.create_task(work(machine, 2, lambda ready: None, told))
    running = asyncio.create_task(Session.start(question(1), settings=settings).result())
    await eventually(lambda: model.asked)
    told.set()
    began = time.monotonic()
    async with worker(settings.with_(home=settings.home / "third")):
        assert (await running).status == "completed"
        assert time.monotonic() - began > 8, "it lasted two leases"
        await draining
    assert [run for _, run in owners(database)] == [1]


@pytest.mark.timeout(300)
async def test_workers_are_replaced_one_after_the_other(
    env: dict[str, str],
    settings: Settings,
    model: Model,
    searx: Searx,
    database: str,
    tmp_path: Path,
) -> None:
    model.delay = 0.3
    told = []
    with Fleet(tmp_path, {**env, "SPADEWORK_DRAIN_SECONDS": "1"}, sessions=4) as fleet:
        fleet.start(1)
        fleet.start(2)
        asked = [
            asyncio.create_task(Session.start(question(n), settings=settings).result())
            for n in range(6)
        ]
        await taken_by(fleet, 1)
        for old, new in ((1, 3), (2, 4)):
            told.append(time.monotonic())
            fleet.signal(old, signal.SIGTERM)
            assert await asyncio.to_thread(fleet.left, old) == 0
            await asyncio.to_thread(fleet.start, new)
        results = await asyncio.gather(*asked)
    assert {result.status for result in results} == {"completed"}
    assert any(run > 1 for _, run in owners(database)), "some went on at another"
    assert paid_twice(database) == []
    assert not asked_again([*model.asked, *searx.requests], told)
    assert "Traceback" not in fleet.logs()


@pytest.mark.timeout(180)
def test_a_worker_tells_what_it_does(
    env: dict[str, str], settings: Settings, tmp_path: Path
) -> None:
    with Fleet(tmp_path, env, sessions=2, options=["--port", "0"]) as fleet:
        fleet.start(1)
        found = re.search(r"(http://127\.0\.0\.1:\d+)/metrics", fleet.log(1))
        assert found
        with httpx.Client(base_url=found[1], timeout=20) as client, ThreadPoolExecutor() as aside:
            assert client.get("/healthz").text == "ok\n"
            assert client.get("/readyz").text == "ready\n"
            session = Session.start(question(1), settings=settings)
            aside.submit(asyncio.run, session.result()).result(90)
            numbers = client.get("/metrics").text
            assert 'spadework_sessions_ended_total{status="completed"} 1.0' in numbers
        fleet.signal(1, signal.SIGTERM)
        assert fleet.left(1) == 0

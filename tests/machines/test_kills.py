"""A worker that is killed, slow or stopped: another one goes on with its sessions, from what was
answered before.
"""

from __future__ import annotations

import asyncio
import signal
import time
from pathlib import Path

import pytest

from spadework.events import Ended, Finished, Planned
from spadework.sessions.record.log import read_log
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.machines.fleet import (
    Fleet,
    asked_again,
    asked_by_two,
    case_of,
    paid_twice,
    play_cases,
    question,
)
from tests.machines.test_shared_sessions import eventually
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = [pytest.mark.machines, pytest.mark.slow, pytest.mark.timeout(900)]
SESSIONS = 6
#: Requests of a session that bear its number, and which worker is killed after which share of all.
EACH, KILLS = 12, ((0, 0.3), (1, 0.55), (0, 0.8))


@pytest.fixture
def env(database: str, world: World, searx: Searx, model: Model) -> dict[str, str]:
    """The environment of all processes."""
    play_cases(model)
    model.delay = 0.4
    return {**world.env, **searx.env, **model.env, "SPADEWORK_DATABASE_URL": database}


@pytest.fixture
def settings(env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return Settings.load(minutes=5)


async def test_all_sessions_end_with_a_report_and_nothing_that_was_answered_is_asked_again(
    database: str,
    settings: Settings,
    env: dict[str, str],
    searx: Searx,
    model: Model,
    tmp_path: Path,
) -> None:
    def answers() -> int:
        return sum(1 for r in [*model.asked, *searx.requests] if r.status and case_of(r))

    kills: list[float] = []
    with Fleet(tmp_path, env, sessions=3) as fleet:
        for number in range(2):
            await asyncio.to_thread(fleet.start, number)
        sessions = [Session.start(question(n), settings=settings) for n in range(SESSIONS)]
        running = [asyncio.create_task(session.result()) for session in sessions]
        for number, share in KILLS:
            while answers() < share * EACH * SESSIONS:
                assert not all(task.done() for task in running), await asyncio.gather(*running)
                await asyncio.sleep(0.01)
            fleet.kill(number)
            kills.append(time.monotonic())
            await asyncio.to_thread(fleet.start, number)
        results: list[Result] = await asyncio.gather(*running)
        said = fleet.logs()
    records = [*model.asked, *searx.requests]
    assert [result.status for result in results] == ["completed"] * SESSIONS, said
    assert all(result.sources for result in results)
    assert "queued again" in said, "sessions of the killed worker are taken over"
    assert not asked_again(records, kills), said
    assert not paid_twice(database), said
    assert not asked_by_two(records), said


async def test_a_worker_that_was_only_slow_writes_nothing_more_and_one_that_is_stopped_hands_on(
    settings: Settings, env: dict[str, str], model: Model, tmp_path: Path
) -> None:
    model.delay = 1.5
    session = Session.start(question(1), settings=settings)
    with Fleet(tmp_path, env, sessions=1) as fleet:
        await asyncio.to_thread(fleet.start, 0)
        await asyncio.to_thread(fleet.start, 1)
        running = asyncio.create_task(session.result())
        await eventually(lambda: sum(bool(r.status) for r in model.asked) > 3)
        [slow] = [n for n in range(2) if fleet.runs(n)]
        fleet.signal(slow, signal.SIGSTOP)
        await eventually(lambda: fleet.runs(1 - slow))
        asked = len(model.asked)
        await eventually(lambda: len(model.asked) > asked)
        fleet.signal(slow, signal.SIGCONT)
        await eventually(lambda: "another worker has taken" in fleet.log(slow))
        assert not running.done(), fleet.logs()
        fleet.signal(1 - slow, signal.SIGTERM)
        result = await running
        assert await asyncio.to_thread(fleet.left, 1 - slow) == 0
        said = fleet.logs()
    assert result.status == "completed", said
    assert "Traceback" not in said
    log = [event for event in read_log(session.folder) if event]
    assert sum(isinstance(event, Finished) for event in log) == 1
    assert sum(isinstance(event, Planned) for event in log) == 1
    assert not any(isinstance(event, Ended) for event in log)

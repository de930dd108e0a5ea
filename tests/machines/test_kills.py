"""A worker that is killed: another one goes on with its sessions, from what was answered before."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.machines.fleet import Fleet, asked_again, asked_by_two, case_of, play_cases, question
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = [pytest.mark.machines, pytest.mark.slow, pytest.mark.timeout(300)]
SESSIONS = 6


async def test_all_sessions_end_with_a_report_and_nothing_that_was_answered_is_asked_again(
    database: str,
    world: World,
    searx: Searx,
    model: Model,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = {**world.env, **searx.env, **model.env, "SPADEWORK_DATABASE_URL": database}
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    play_cases(model)
    model.delay = 0.4
    settings = Settings.load(minutes=5)

    def answers() -> int:
        return sum(1 for r in [*model.asked, *searx.requests] if r.status and case_of(r))

    with Fleet(tmp_path, env, sessions=3) as fleet:
        await asyncio.to_thread(fleet.start, 1)
        await asyncio.to_thread(fleet.start, 2)
        sessions = [Session.start(question(n), settings=settings) for n in range(SESSIONS)]
        running = [asyncio.create_task(session.result()) for session in sessions]
        while answers() < 3 * SESSIONS:
            assert not all(task.done() for task in running), await asyncio.gather(*running)
            await asyncio.sleep(0.01)
        killed = time.monotonic()
        fleet.kill(1)
        results: list[Result] = await asyncio.gather(*running)
        said = fleet.logs()
    records = [*model.asked, *searx.requests]
    assert [result.status for result in results] == ["completed"] * SESSIONS, said
    assert all(result.sources for result in results)
    assert "waits again" in said, "sessions of the killed worker are taken over"
    assert not asked_again(records, [killed]), said
    assert not asked_by_two(records), said

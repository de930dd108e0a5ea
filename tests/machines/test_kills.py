"""A worker that is killed: another one goes on with its sessions, from what was answered before."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

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
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = [pytest.mark.machines, pytest.mark.slow, pytest.mark.timeout(900)]
SESSIONS = 6
#: Requests of a session that bear its number, and which worker is killed after which share of all.
EACH, KILLS = 12, ((0, 0.3), (1, 0.55), (0, 0.8))


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
    assert "waits again" in said, "sessions of the killed worker are taken over"
    assert not asked_again(records, kills), said
    assert not paid_twice(database), said
    assert not asked_by_two(records), said

"""What one user may have, at once and in a day, holds over all servers and workers; and what
providers, hosts and models allow.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from functools import partial
from itertools import pairwise
from pathlib import Path

import httpx
import psycopg
import pytest

from spadework.budget import Budget, HoldRequest
from spadework.errors import BudgetSpent
from spadework.machines.shared_limits import SharedDayLimit, shared_sessions
from spadework.sessions.session import Session
from spadework.sessions.users import People
from spadework.settings import Settings
from tests.apps.web.server import Server
from tests.machines.fleet import Fleet, case_of, play_cases, question
from tests.machines.test_shared_sessions import QUESTION, eventually, machine, settings, worker
from tests.machines.test_two_servers import ask
from tests.world.model import Model
from tests.world.record import Asked
from tests.world.searx import Searx
from tests.world.sites import World

__all__ = ["machine", "settings"]
pytestmark = [pytest.mark.machines, pytest.mark.slow]
WISH = HoldRequest(told=100, usual=300, most=300, price=(1.0, 2.0))


@pytest.fixture
def env(database: str, world: World, searx: Searx, model: Model) -> dict[str, str]:
    """The environment of all processes."""
    play_cases(model)
    return {**world.env, **searx.env, **model.env, "SPADEWORK_DATABASE_URL": database}


@pytest.fixture
def servers(env: dict[str, str], tmp_path: Path) -> Iterator[list[Server]]:
    """Makes two servers, with what the test adds to the environment by then."""
    made: list[Server] = []
    yield made
    for server in made:
        server.stop()


def serve_two(env: dict[str, str], tmp_path: Path, servers: list[Server]) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        servers.append(Server(env, tmp_path / name))


def ask_at(server: Server, number: int) -> httpx.Response:
    with server.client() as client:
        return ask(client, number)


def most_at_once(records: Iterable[Asked]) -> int:
    """How many requests a server had at once."""
    moments = [(at, n) for r in records for at, n in ((r.started, 1), (r.ended or r.started, -1))]
    inside = most = 0
    for _, n in sorted(moments):
        inside += n
        most = max(most, inside)
    return most


def test_four_workers_together_ask_no_more_at_once_than_one_may(
    env: dict[str, str], world: World, searx: Searx, model: Model, tmp_path: Path
) -> None:
    env |= {
        "SPADEWORK_MODEL_PARALLEL": "3",
        "SPADEWORK_PARALLEL_PER_HOST": "1",
        "SPADEWORK_SEARCH_LIMITS": json.dumps({"searxng": [1000, 2]}),
    }
    model.delay = searx.delay = world.delay = 0.15
    with Fleet(tmp_path, env, sessions=3) as fleet:
        for number in range(4):
            fleet.start(number)

        async def run() -> list[str]:
            settings = Settings.load(minutes=5)
            sessions = [Session.start(question(n), settings=settings) for n in range(8)]
            results = await asyncio.gather(*(session.result() for session in sessions))
            return [result.status for result in results]

        with pytest.MonkeyPatch.context() as patched:
            for name, value in env.items():
                patched.setenv(name, value)
            ended = asyncio.run(run())
        said = fleet.logs()
    assert ended == ["completed"] * 8, said
    calls = [record for record in model.asked if record.method == "POST"]
    assert most_at_once(calls) == 3, said
    assert most_at_once(searx.requests) == 2, said
    hosts = {record.site for record in world.requests}
    assert hosts
    for host in hosts:
        assert most_at_once(r for r in world.requests if r.site == host) == 1, host


def test_a_user_has_no_more_runs_at_once_whichever_servers_were_asked(
    env: dict[str, str], servers: list[Server], model: Model, tmp_path: Path
) -> None:
    env["SPADEWORK_USER_RUNS"] = "1"
    model.delay = 0.1
    serve_two(env, tmp_path, servers)
    with Fleet(tmp_path, env, sessions=3) as fleet, ThreadPoolExecutor(4) as aside:
        for number in range(2):
            fleet.start(number)
        answers = list(aside.map(lambda n: ask_at(servers[n % 2], n), range(4)))
    assert [answer.status_code for answer in answers] == [200] * 4
    spans = {}
    for record in model.asked:
        if (case := case_of(record)) is not None:
            first, last = spans.get(case, (record.started, 0.0))
            spans[case] = first, max(last, record.ended or 0.0)
    runs = sorted(spans.values())
    assert len(runs) == 4
    assert all(before[1] <= after[0] for before, after in pairwise(runs))


def test_what_a_user_may_spend_in_a_day_is_spent_on_all_machines_together(
    database: str, env: dict[str, str], servers: list[Server], tmp_path: Path
) -> None:
    most, prices = 0.05, {"world-model": [1.0, 10.0]}
    env["SPADEWORK_USER_MONEY"], env["SPADEWORK_PRICES"] = str(most), json.dumps(prices)
    serve_two(env, tmp_path, servers)
    with Fleet(tmp_path, env, sessions=2) as fleet, ThreadPoolExecutor(4) as aside:
        for number in range(2):
            fleet.start(number)
        answers = list(aside.map(lambda n: ask_at(servers[n % 2], n), range(4)))
        used = sum(paid(a.json()["usage"]) for a in answers if a.is_success)
        assert 0 < used <= most
        with psycopg.connect(database) as connection:
            [[kept]] = connection.execute("SELECT sum(money) FROM spadework.spent").fetchall()
            connection.execute("UPDATE spadework.spent SET money = %s", (most,))
        last = [ask_at(server, 9) for server in servers]
    assert kept == pytest.approx(used)
    assert [answer.status_code for answer in last] == [429, 429]


def paid(usage: dict[str, int]) -> float:
    return (usage["prompt_tokens"] + 10 * usage["completion_tokens"]) / 1_000_000


async def test_of_those_who_wait_for_workers_the_user_comes_first_who_has_fewest_runs(
    settings: Settings, machine: Settings, model: Model
) -> None:
    play_cases(model)
    people = People(settings)
    asked = [people.settings_of(name) for name in ("anna", "anna", "anna", "bob")]
    sessions = [Session.start(question(n), settings=own) for n, own in enumerate(asked)]
    running = []
    for session in sessions:
        running.append(asyncio.create_task(session.result()))
        async with shared_sessions(settings) as shared:
            await eventually(partial(shared.find, session.session_id))
    async with worker(machine):
        await asyncio.gather(*running)
    cases = [case for one in model.asked if (case := case_of(one)) is not None]
    order = list(dict.fromkeys(cases))
    assert set(order[:2]) == {0, 3}, order


async def test_who_has_as_many_runs_as_may_be_is_told_the_place_in_the_queue(
    settings: Settings, machine: Settings, model: Model
) -> None:
    mine, told = settings.with_(user_runs=1), list[str]()
    model.delay = 0.2

    async def run() -> None:
        async with aclosing(Session.start(QUESTION, settings=mine).events(told.append)) as events:
            async for _ in events:
                pass

    async with worker(machine):
        await asyncio.gather(*(run() for _ in range(3)))
    full = "1 of your questions is being researched (your limit is 1). You are number"
    assert f"{full} 2 of 2 in the queue." in told
    assert f"{full} 1 of 1 in the queue." in told


async def test_of_two_processes_that_want_the_last_of_a_day_one_has_it(
    database: str, tmp_path: Path
) -> None:
    limits = [SharedDayLimit(Settings.load(home=tmp_path)) for _ in range(4)]
    budgets = [Budget() for _ in limits]
    for limit, budget in zip(limits, budgets, strict=True):
        limit.money = 0.0008
        budget.draw_on(limit)
    holds = await asyncio.gather(
        *(budget.hold(WISH, until=1e9) for budget in budgets), return_exceptions=True
    )
    got = [hold for hold in holds if not isinstance(hold, BaseException)]
    assert len(got) <= 1
    assert all(isinstance(hold, BudgetSpent) for hold in holds if hold not in got)

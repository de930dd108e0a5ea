"""Workers on one database: sessions that all end although workers are killed and the database is
restarted, how many are done in a minute, and what each costs the database.

python -m benchmarks.machines [--workers 2] [--sessions 12] [--at-once 4] [--kill-every SECONDS]
    [--restart SECONDS] [--delay SECONDS] [--parallel CALLS]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import re
import statistics
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

from spadework.errors import SpadeworkError
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.hostile.killing import subject
from tests.machines.fleet import (
    Fleet,
    asked_again,
    asked_by_two,
    case_of,
    paid_twice,
    play_cases,
    question,
)
from tests.world.background import Background
from tests.world.model import Model
from tests.world.postgres import Postgres
from tests.world.searx import Searx
from tests.world.sites import World

#: Seconds between the submissions of two sessions.
BETWEEN = 0.05
_ID = re.compile(r"\d{8}-\d{6}-\w+")
_COST = (
    "SELECT (SELECT active_time FROM pg_stat_database WHERE datname = current_database()),"
    " (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),"
    " (SELECT sum(n_tup_ins) FROM pg_stat_user_tables),"
    " pg_database_size(current_database())"
)


def main() -> None:
    """Run the sessions and print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sessions", type=int, default=12)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--kill-every", type=float, default=0.0)
    parser.add_argument("--restart", type=float, default=0.0)
    parser.add_argument("--delay", type=float, default=0.4)
    parser.add_argument("--parallel", type=int, default=0)
    given = parser.parse_args()
    with (
        Background() as background,
        Postgres(durable=True) as postgres,
        tempfile.TemporaryDirectory() as folder,
    ):
        world = World(background)
        searx, model = Searx(background, world), Model(background)
        play_cases(model)
        model.delay = searx.delay = given.delay
        address = postgres.database()
        env = {**world.env, **searx.env, **model.env, "SPADEWORK_DATABASE_URL": address}
        if given.parallel:  # at what all workers share: the model, the search and each host
            env["SPADEWORK_MODEL_PARALLEL"] = str(given.parallel)
            env["SPADEWORK_SEARCH_LIMITS"] = f'{{"searxng": [1000, {given.parallel}]}}'
            env["SPADEWORK_PARALLEL_PER_HOST"] = str(min(10, given.parallel))
        os.environ.update(env | {"SPADEWORK_HOME": f"{folder}/home"})
        with Fleet(Path(folder), env, given.at_once) as fleet:
            asyncio.run(_measure(given, fleet, postgres, address, [model, searx]))


async def _measure(
    given: argparse.Namespace, fleet: Fleet, postgres: Postgres, address: str, servers: list[Any]
) -> None:
    for number in range(given.workers):
        await asyncio.to_thread(fleet.start, number)
    before, began, cpu = _cost(address), time.monotonic(), psutil.cpu_times()
    kills: list[float] = []
    disturbing = [
        asyncio.create_task(_kill_on(fleet, given.workers, given.kill_every, kills)),
        asyncio.create_task(_restart_once(postgres, given.restart, kills)),
    ]
    done = await asyncio.gather(*(_one(n) for n in range(given.sessions)))
    results = [status for status, _ in done]
    took = time.monotonic() - began
    busy = 1 - (psutil.cpu_times().idle - cpu.idle) / (took * (os.cpu_count() or 1))
    for task in disturbing:
        task.cancel()
    await asyncio.gather(*disturbing, return_exceptions=True)
    records = [record for server in servers for record in _records(server)]
    numbered = [record for record in records if case_of(record) is not None and record.status]
    again = asked_again(records, kills)
    print(f"{given.workers} workers, {given.sessions} sessions: {dict(Counter(results))}")
    print(
        f"  {took:.1f} s, {60 * given.sessions / took:.1f} sessions a minute, processors busy"
        f" {busy:.0%}"
    )
    lasted = sorted(seconds for _, seconds in done)
    median = statistics.median(lasted)
    print(f"  a session: {median:.1f} s in the middle, longest {lasted[-1]:.1f} s")
    print(f"  kills and restarts: {len(kills)}, taken over: {fleet.logs().count('waits again')}")
    print(f"  requests with a number: {len(numbered)}, answered and asked again: {len(again)}")
    print(f"  answers that were written down twice: {len(paid_twice(address))}")
    print(f"  asked by two at once: {len(asked_by_two(records))}")
    after = _cost(address)
    each = [(a - b) / given.sessions for a, b in zip(after, before, strict=True)]
    print(
        f"  the database, a session: {each[0]:.0f} ms at work, {each[1]:.0f} transactions,"
        f" {each[2]:.0f} rows, {each[3] / 1000:.0f} kB"
    )
    said = Counter(_ID.sub("…", line) for line in fleet.logs().splitlines())
    for line, times in said.most_common(20):
        print(f"    {times} × {line[:200]}", file=sys.stderr)
    for what, age in again[:5]:
        print(f"    {age:.2f} s before: {what[-300:]}", file=sys.stderr)
        for one in numbered:
            if subject(one) == what:
                asked = f"{one.started - began:.2f} to {(one.ended or 0) - began:.2f} s"
                print(f"        asked from {asked}, status {one.status}", file=sys.stderr)
    print("    disturbed at", *(f"{at - began:.1f}" for at in kills), file=sys.stderr)


async def _one(number: int) -> tuple[str, float]:
    """How a session ended, and the seconds that it ran."""
    await asyncio.sleep(number * BETWEEN)
    session = Session.start(question(number), settings=Settings.load(minutes=10))
    while True:
        try:
            result = await session.result()
            status = result.status if result.sources else "without sources"
            return status, result.timings["total"]
        except SpadeworkError as error:
            print(error, file=sys.stderr)
            await asyncio.sleep(1)
            session = Session.resume(session.session_id, settings=session.settings)


async def _kill_on(fleet: Fleet, workers: int, every: float, kills: list[float]) -> None:
    """Kill a worker again and again, and start it anew."""
    chance, alive = random.Random(20), list(range(workers))
    while every:
        await asyncio.sleep(every)
        number = chance.choice(alive)
        fleet.kill(number)
        kills.append(time.monotonic())
        await asyncio.to_thread(fleet.start, number)


async def _restart_once(postgres: Postgres, after: float, kills: list[float]) -> None:
    if after:
        await asyncio.sleep(after)
        kills.append(time.monotonic())
        await asyncio.to_thread(postgres.stop)
        await asyncio.to_thread(postgres.start)
        print(f"the database was away for {time.monotonic() - kills[-1]:.1f} s", file=sys.stderr)


def _records(server: Any) -> list[Any]:
    return list(server.asked if isinstance(server, Model) else server.requests)


def _cost(address: str) -> tuple[float, ...]:
    with suppress(psycopg.Error), psycopg.connect(address) as connection:
        row = connection.execute(_COST).fetchone()
        return tuple(float(value or 0) for value in row) if row else (0.0,) * 4
    return (0.0,) * 4


if __name__ == "__main__":
    main()

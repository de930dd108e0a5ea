"""What places cost that machines share: statements, the database's time, and the time that is
waited for one, where nobody else wants it and where processes wait for each other.

python -m benchmarks.places [--calls 400]
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from collections.abc import Callable

import psycopg
from pydantic import SecretStr

from spadework.machines.database import opened
from spadework.machines.rooms import Whose
from tests.machines.callers import Callers, Counted
from tests.world.background import Background
from tests.world.postgres import Postgres

_COST = "SELECT active_time, xact_commit FROM pg_stat_database WHERE datname = current_database()"
#: Seconds after which the server's own counts hold all that was done, and its idle share is small.
SETTLED_SECONDS = 1.5


def main() -> None:
    """Measure and print the rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=400)
    given = parser.parse_args()
    print("| | calls | ms waited for a place, median (95 %) | statements a call | database, ms |")
    print("|---|---|---|---|---|")
    with Background() as background, Postgres(durable=True) as postgres:
        for what, name in (
            ("each at another host", lambda n: f"host{n}.example"),
            ("one after the other at one host", lambda n: "host.example"),
        ):
            _row(what, postgres.database(), given.calls, name)
        endpoint = Counted(background)
        _contended(endpoint, postgres.database(), given.calls)


def _row(what: str, address: str, calls: int, name: Callable[[int], str]) -> None:
    waited = asyncio.run(_alone(address, calls, name, warm=True))
    before = _cost(address)
    waited = asyncio.run(_alone(address, calls, name))
    time.sleep(SETTLED_SECONDS)
    _print(what, calls, waited, before, _cost(address))


async def _alone(
    address: str, calls: int, name: Callable[[int], str], *, warm: bool = False
) -> list[float]:
    waited = []
    async with opened(SecretStr(address)) as database:
        whose = Whose("anna", "session")
        for n in range(1 if warm else calls):
            before = time.perf_counter()
            async with database.rooms.place(whose, name(n), lambda: 2):
                waited.append(1000 * (time.perf_counter() - before))
    return waited


def _contended(endpoint: Counted, address: str, calls: int) -> None:
    endpoint.delay = 0.05
    parties = [[f"user{n}/a", f"user{n}/b"] for n in range(4)]
    processes = [Callers(address, endpoint.url, 8, 4, *some) for some in parties]
    try:
        endpoint.until(calls // 4)
        first, before, began = len(endpoint.came), _cost(address), time.monotonic()
        endpoint.until(first + calls)
        took = time.monotonic() - began
        done, after = len(endpoint.came) - first, _cost(address)
    finally:
        for process in processes:
            process.end(9)
    _print("four processes, 32 calls that want 8 places", done, [], before, after)
    print(
        f"  {done / took:.0f} calls a second of {8 / endpoint.delay:.0f} at most, at most"
        f" {endpoint.most} at once",
        file=sys.stderr,
    )


def _print(
    what: str,
    calls: int,
    waited: list[float],
    before: tuple[float, float],
    after: tuple[float, float],
) -> None:
    said = "–"
    if waited:
        late = sorted(waited)[int(0.95 * len(waited))]
        said = f"{statistics.median(waited):.2f} ({late:.2f})"
    spent, statements = (b - a for a, b in zip(before, after, strict=True))
    print(f"| {what} | {calls} | {said} | {statements / calls:.2f} | {spent / calls:.2f} |")


def _cost(address: str) -> tuple[float, float]:
    with psycopg.connect(address) as connection:
        row = connection.execute(_COST).fetchone()
    assert row
    return float(row[0]), float(row[1])


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    main()

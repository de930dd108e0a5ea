"""What is scarce is shared by processes that know the same database: no more are there at once than
may be, everybody has a turn, and nobody waits for a database that does not answer.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, ExitStack, suppress
from functools import partial
from pathlib import Path

import httpx
import psycopg
import pytest

from spadework.agents.llm.limits import Gate
from spadework.errors import QuotaSpent, Throttled
from spadework.machines.database import Database
from spadework.machines.rooms import ASK_SECONDS, KEEP_SECONDS, LEASE_SECONDS, LOOK_SECONDS, Whose
from spadework.tools.fetch.exchange import Answer
from spadework.tools.fetch.hosts import TURNS, Robots, TooSoon
from spadework.tools.fetch.http_cache import Store
from spadework.tools.search.rate_limiter import Limit, RateLimiter
from spadework.tools.web.fair_queue import SHARED, Place
from tests.machines.callers import Callers, Counted
from tests.machines.test_shared_sessions import eventually
from tests.world.background import Background

pytestmark = pytest.mark.machines


@pytest.fixture
def endpoint(background: Background) -> Counted:
    return Counted(background)


def test_four_processes_are_no_more_at_once_than_one_may_be(
    database: str, endpoint: Counted
) -> None:
    with ExitStack() as stack:
        for n in range(4):
            stack.enter_context(Callers(database, endpoint.url, 3, 4, f"user{n}/a", f"user{n}/b"))
        came = endpoint.until(600)
    assert endpoint.most == 3
    assert len(came) == 8


def test_who_is_killed_leaves_its_places_when_they_lapse(database: str, endpoint: Counted) -> None:
    endpoint.delay = 60.0
    with Callers(database, endpoint.url, 2, 2, "anna/a") as killed:
        endpoint.until(2)
        with (
            Callers(database, endpoint.url, 2, 1, "bob/b"),
            psycopg.connect(database) as connection,
        ):
            waiting = "SELECT 1 FROM spadework.places WHERE NOT held"
            while not connection.execute(waiting).fetchall():
                connection.rollback()
                time.sleep(0.05)
            killed.end(signal.SIGKILL)
            before = time.monotonic()
            endpoint.until(3)
            took = time.monotonic() - before
    assert took < LEASE_SECONDS + 2 * LOOK_SECONDS


@pytest.mark.parametrize(
    ("parties", "share"),
    [
        pytest.param([f"anna/{n}" for n in range(6)], 0.5, id="users"),
        pytest.param(["bob/1", "bob/2", "bob/3"], 0.25, id="sessions"),
    ],
)
def test_one_with_much_to_do_holds_up_nobody_elsewhere(
    database: str, endpoint: Counted, parties: list[str], share: float
) -> None:
    with Callers(database, endpoint.url, 2, 3, *parties):
        endpoint.until(20)
        with Callers(database, endpoint.url, 2, 3, "bob/late"):
            while "bob/late" not in endpoint.came:
                time.sleep(0.01)
            endpoint.came.clear()
            came = endpoint.until(200)
    assert came["bob/late"] / 200 == pytest.approx(share, rel=0.25)
    assert endpoint.most == 2


@pytest.fixture
async def machine(database: str) -> AsyncIterator[Callable[[str], Place]]:
    """Makes what is known of the places on a machine of its own, for a session of this name."""
    async with AsyncExitStack() as closing:
        machines: dict[str, Database] = {}
        for name in ("one", "two"):
            machines[name] = Database(database)
            await machines[name].open()
            closing.push_async_callback(machines[name].close)
        yield lambda name: partial(machines[name].rooms.place, Whose("anna", name))


async def test_a_place_is_kept_for_who_comes_next_until_somebody_else_wants_it(
    database: str, machine: Callable[[str], Place]
) -> None:
    one, two = machine("one"), machine("two")

    async def visit(rooms: Place, seconds: float = 0.0) -> None:
        async with asyncio.timeout(KEEP_SECONDS * 0.9), rooms("there", lambda: 1):
            await asyncio.sleep(seconds)

    await visit(one)
    with psycopg.connect(database, autocommit=True) as watched:
        [[first]] = watched.execute("SELECT ticket FROM spadework.places").fetchall()
        for _ in range(3):
            await visit(one)
        [[still]] = watched.execute("SELECT ticket FROM spadework.places").fetchall()
    assert still == first
    await visit(two)
    await asyncio.gather(*(visit(rooms, 0.01) for rooms in (one, two, one, two)))


async def test_who_is_struck_while_waiting_takes_no_place_along(
    machine: Callable[[str], Place],
) -> None:
    one, two = machine("one"), machine("two")
    for pause in (0.0, 0.001, 0.003, 0.01, 0.03):
        async with one("there", lambda: 1):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(pause), two("there", lambda: 1):
                    raise AssertionError("two are there at once")
    async with asyncio.timeout(2), two("there", lambda: 1):
        pass


async def test_nobody_waits_for_a_database_that_does_not_answer(
    database: str, machine: Callable[[str], Place]
) -> None:
    one, two = machine("one"), machine("two")
    with psycopg.connect(database) as connection:
        connection.execute("LOCK TABLE spadework.askers")
        before = time.monotonic()
        async with one("there", lambda: 1):
            took = time.monotonic() - before
            assert ASK_SECONDS <= took < ASK_SECONDS + 2
            async with one("there", lambda: 1):
                assert time.monotonic() - before - took < 0.5, "it waits once"
        connection.rollback()

    async def is_shared_again() -> bool:
        async with one("there", lambda: 1):
            with suppress(TimeoutError):
                async with asyncio.timeout(0.3), two("there", lambda: 1):
                    return False
            return True

    await eventually(is_shared_again)


async def test_machines_ask_a_provider_at_one_pace_and_heed_what_it_said_to_one(
    machine: Callable[[str], Place],
) -> None:
    limiters, began = {name: RateLimiter() for name in ("one", "two")}, list[float]()

    async def search(name: str, retry_after: float | None = None) -> None:
        SHARED.set(machine(name))
        limiter, limit = limiters[name], Limit(0.2, 3)
        async with limiter.turn(limit, 5.0, "search at arxiv"):
            began.append(time.monotonic())
            if retry_after:
                with limiter.respect_limits():
                    raise QuotaSpent("Too many.", retry_after=retry_after)

    await asyncio.gather(*(search(name) for name in ("one", "two") * 3))
    assert began[-1] - began[0] > 5 * 0.2 - 0.1
    with pytest.raises(QuotaSpent):
        await search("one", retry_after=60.0)
    await asyncio.sleep(0.5)
    with pytest.raises(Throttled, match="asks to wait"):
        await search("two")
    assert len(began) == 7


async def test_an_endpoint_that_is_busy_is_left_alone_by_all_machines(
    machine: Callable[[str], Place],
) -> None:
    gates = {name: Gate("https://model.example/v1") for name in ("one", "two")}
    SHARED.set(machine("one"))
    async with gates["one"].through("a", 4) as began:
        gates["one"].limited(began, 0.8, 4)
    told = time.monotonic()
    await asyncio.sleep(0.2)  # it is told in the background
    SHARED.set(machine("two"))
    async with gates["two"].through("b", 4):
        assert time.monotonic() - told > 0.7


async def test_the_pause_that_a_site_wants_is_kept_by_all_machines(
    machine: Callable[[str], Place], tmp_path: Path
) -> None:
    url, text = "https://slow.example/page", b"User-agent: *\nCrawl-delay: 0.6"

    async def get(asked: str) -> Answer:
        return Answer(asked, 200, httpx.Headers(), text)

    robots, until = Robots("test", get, Store(tmp_path, 1_000_000)), asyncio.get_running_loop().time
    before = time.monotonic()
    for name in ("one", "two"):
        SHARED.set(machine(name))
        TURNS.clear()  # as another process has others
        await robots.ask_permission(url, until() + 5)
    assert time.monotonic() - before > 0.55
    TURNS.clear()
    with pytest.raises(TooSoon, match=r"slow.example requires 0\.6 s between two pages"):
        await robots.ask_permission(url, until() + 0.3)


async def test_a_pause_without_end_costs_no_other_site_its_limit(
    machine: Callable[[str], Place], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def get(asked: str) -> Answer:
        return Answer(asked, 200, httpx.Headers(), b"User-agent: *\nCrawl-delay: 1e300")

    robots, until = Robots("test", get, Store(tmp_path, 1_000_000)), asyncio.get_running_loop().time
    SHARED.set(machine("one"))
    await robots.ask_permission("https://hostile.example/page", until() + 5)
    assert "Limits now apply only" not in caplog.text
    with pytest.raises(TooSoon, match=r"hostile\.example requires"):
        await robots.ask_permission("https://hostile.example/other", until() + 5)


async def test_what_listens_on_loopback_is_another_on_each_machine(
    machine: Callable[[str], Place], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with asyncio.timeout(2), machine("one")("http://localhost:11434/v1", lambda: 1):
        monkeypatch.setattr("socket.gethostname", lambda: "another")
        async with machine("two")("http://localhost:11434/v1", lambda: 1):
            pass

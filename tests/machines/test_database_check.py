"""What `doctor` and `/readyz` say of the database, a sentence each."""

from __future__ import annotations

import asyncio
import socket
import sys
import time

import psycopg
import pytest

from spadework.backend import backend_of
from spadework.errors import how_to_install
from spadework.machines import backend
from spadework.machines.backend import AWAY, database as checked, database_fault
from spadework.machines.migration import HEAD
from spadework.machines.shared_limits import shared_sessions
from spadework.machines.worker import work
from spadework.sessions.health.check import Check
from spadework.settings import Settings
from tests.machines.test_shared_sessions import eventually

pytestmark = pytest.mark.machines


@pytest.fixture
def address(database: str) -> str:
    return database


async def found(settings: Settings) -> list[tuple[str, str]]:
    return [(check.state, check.text) for check in await checked(settings)]


async def test_what_is_said_of_a_database_that_is_used(address: str) -> None:
    settings = Settings.load()
    server, tables, connections, workers = await found(settings)
    assert server[0] == "works" and "PostgreSQL" in server[1] and "answers in" in server[1]
    assert tables[0] == "hint" and "not been created yet" in tables[1]
    assert connections[0] == "works" and "connections are free" in connections[1]
    assert workers == ("hint", "no worker is running; sessions waiting: 0, running: 0")
    with psycopg.connect(address) as connection:  # to look changes nothing
        assert connection.execute("SELECT to_regnamespace('spadework')").fetchone() == (None,)
    ready = asyncio.Event()
    working = asyncio.create_task(work(settings, 1, lambda told: ready.set()))
    await ready.wait()
    assert await database_fault(settings) == ""
    async with shared_sessions(settings) as shared:

        async def registered() -> bool:
            return (await shared.place("none"))[0] == 1

        await eventually(registered)
    tables, _, workers = (await found(settings))[1:]
    assert tables == ("works", f"the tables are up to date (version {HEAD})")
    assert workers == ("works", "1 worker is running; sessions waiting: 0, running: 0")
    working.cancel()
    await asyncio.gather(working, return_exceptions=True)
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute("UPDATE spadework.migrations SET version_num = '9999'")
    newer = (await found(settings))[1]
    assert newer[0] == "broken" and "newer spadework (version 9999" in newer[1]


async def test_one_that_cannot_be_used_is_one_sentence_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backend, "HEALTH_SECONDS", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent, socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))
        for one, state in ((refusing, "broken"), (silent, "slow")):
            address = f"postgresql://me:secret@127.0.0.1:{one.getsockname()[1]}/name"
            settings = Settings.load(database_url=address)
            began = time.monotonic()
            [check] = await checked(settings)
            assert isinstance(check, Check) and check.state == state
            assert "secret" not in check.line and "\n" not in check.line
            assert await database_fault(settings) == AWAY
            assert time.monotonic() - began < 8
    alone = Settings.load()
    assert await backend_of(alone).database(alone) == []


async def test_packages_that_are_missing_are_named_with_their_mend(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "procrastinate", None)
    [check] = await checked(Settings.load(database_url="postgresql://127.0.0.1/name"))
    assert (check.state, check.hint) == (
        "broken",
        f"To install them, run {how_to_install('postgres')}.",
    )

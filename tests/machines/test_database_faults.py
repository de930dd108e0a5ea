"""A database that cannot be used is one sentence; one that goes away in the middle is waited for,
and nothing that was gathered is lost.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import aclosing

import pytest
from psycopg import AsyncConnection
from pydantic import SecretStr

from spadework.errors import SessionError, SettingsError
from spadework.events import Event, Finished, Planned
from spadework.machines import database as database_module
from spadework.sessions.session import Session
from spadework.settings import Settings
from tests.machines.fleet import asked_again, play_cases, question
from tests.machines.test_shared_sessions import worker
from tests.world.model import Model
from tests.world.postgres import Postgres
from tests.world.searx import Searx
from tests.world.sites import World

pytestmark = pytest.mark.machines


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[Postgres]:
    """A server that this test alone stops and starts."""
    with Postgres() as running:
        monkeypatch.setenv("SPADEWORK_DATABASE_URL", running.database())
        yield running


@pytest.fixture
def settings(
    own: Postgres, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play_cases(model)
    return Settings.load()


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as sock:
        yield sock.getsockname()[1]


async def refused(address: str) -> str:
    with pytest.raises(SettingsError) as raised:
        await Session.start("What?", settings=Settings.load(database_url=address)).result()
    said = str(raised.value)
    assert len(said) < 400 and "\n" not in said and "secret" not in said
    return said


async def test_a_server_that_refuses_or_is_not_known_is_named_without_the_password(
    postgres: Postgres,
) -> None:
    with socket.socket() as sock:  # bound and not listening: nobody else gets the port
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        said = await refused(f"postgresql://me:secret@127.0.0.1:{port}/name")
    assert f"name on 127.0.0.1:{port}" in said and "refused" in said.lower()
    assert "nowhere.invalid" in await refused("postgresql://me:secret@nowhere.invalid/name")
    assert "does not exist" in await refused(postgres.address("nothing"))
    for wrong in ("mysql://me:secret@localhost/x", "secret", "postgresql://me:secret@[/x"):
        assert "postgresql://user:password@host/name" in await refused(wrong)


@pytest.mark.timed
async def test_a_server_that_never_answers_is_given_up(silent: int) -> None:
    began = time.monotonic()
    said = await refused(f"postgresql://me:secret@127.0.0.1:{silent}/name")
    assert time.monotonic() - began < 12
    assert "too long" in said or "timeout" in said


@pytest.mark.timeout(180)
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["stopped", "crashed"])
async def test_a_server_that_is_restarted_in_the_middle_is_waited_for(
    own: Postgres, settings: Settings, model: Model, searx: Searx, how: signal.Signals
) -> None:
    machine = settings.with_(home=settings.home / "elsewhere")
    session = Session.start(question(1), settings=settings)
    told: list[Event] = []
    async with worker(machine), aclosing(session.events()) as events:
        async for event in events:
            told.append(event)
            if isinstance(event, Planned):
                stopped = time.monotonic()
                await asyncio.to_thread(own.stop, how)
                await asyncio.sleep(1)
                await asyncio.to_thread(own.start)
    assert isinstance(told[-1], Finished) and told[-1].result.status == "completed"
    assert not asked_again([*model.asked, *searx.requests], [stopped])


@pytest.mark.timeout(180)
async def test_a_session_whose_database_stays_away_stops_and_goes_on_when_it_is_back(
    own: Postgres, settings: Settings, model: Model, searx: Searx, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "AWAY_SECONDS", 0.5)
    machine = settings.with_(home=settings.home / "elsewhere")
    session = Session.start(question(1), settings=settings)
    async with worker(machine):
        with pytest.raises(SessionError, match=r"the database .* cannot be used"):
            async with aclosing(session.events()) as events:
                async for event in events:
                    if isinstance(event, Planned):
                        stopped = time.monotonic()
                        await asyncio.to_thread(own.stop)
        await asyncio.to_thread(own.start)
        result = await Session.resume(session.session_id, settings=settings).result()
    assert result.status == "completed"
    assert not asked_again([*model.asked, *searx.requests], [stopped])


async def test_a_transaction_left_open_by_a_frozen_worker_holds_nothing_for_long(
    own: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "OPEN_SECONDS", 0.5)
    url = own.database()
    frozen = await AsyncConnection.connect(database_module.conninfo_of(url))
    taken = "SELECT pg_try_advisory_xact_lock(1)"
    await frozen.execute(taken)  # begins a transaction, and nothing follows
    other = await AsyncConnection.connect(url)
    try:
        before = time.monotonic()
        while not (await (await other.execute(taken)).fetchone() or (False,))[0]:
            assert time.monotonic() < before + 10
            await asyncio.sleep(0.1)
    finally:
        await frozen.close()
        await other.close()


async def test_who_was_frozen_in_a_transaction_does_it_again(
    own: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "OPEN_SECONDS", 0.5)
    waits = [1.5, 0.0]
    async with database_module.opened(SecretStr(own.database())) as database:

        async def work() -> None:
            async with database.pool.connection() as connection, connection.transaction():
                await connection.execute("SELECT 1")
                await asyncio.sleep(waits.pop(0))
                await connection.execute("SELECT 1")

        await database.retry(work)
    assert waits == []

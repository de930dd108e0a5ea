"""A session that is submitted is run by a worker, shown by whoever watches it, and known to all."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from psycopg import AsyncConnection
from psycopg.errors import UndefinedTable

from spadework.errors import SessionError
from spadework.events import Answered, Asked, Ended, Event, Finished, Notice, Reading, Started
from spadework.machines.session_lookup import bring_recording, find, forget, know_all
from spadework.machines.session_watch import cancel
from spadework.machines.worker import work
from spadework.sessions import runs as runs_module
from spadework.sessions.record.log import read_log
from spadework.sessions.replay import replay
from spadework.sessions.runs import Runs
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_page, whole_result
from spadework.sessions.storage.session_list import list_sessions
from spadework.settings import Settings
from tests.hostile.drawn import differing, drawn
from tests.world.brain import play
from tests.world.model import Model
from tests.world.searx import Searx
from tests.world.sites import World

QUESTION = "What is known about Port Aldermere?"
TOPICS = {
    "Inhabitants": "Port Aldermere inhabitants",
    "Lighthouse": "Port Aldermere lighthouse first lit",
}

pytestmark = pytest.mark.machines


@pytest.fixture
def settings(
    database: str, world: World, searx: Searx, model: Model, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    for name, value in {**world.env, **searx.env, **model.env}.items():
        monkeypatch.setenv(name, value)
    play(model, TOPICS)
    return Settings.load(log="debug")


@asynccontextmanager
async def worker(settings: Settings) -> AsyncIterator[None]:
    """A worker in this process."""
    ready = asyncio.Event()
    working = asyncio.create_task(work(settings, 2, lambda told: ready.set()))
    waiting = asyncio.create_task(ready.wait())
    await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
    try:
        yield
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.gather(working, waiting, return_exceptions=True)


@pytest.fixture
def machine(settings: Settings) -> Settings:
    """The settings of a worker on another machine."""
    return settings.with_(home=settings.home / "elsewhere")


async def eventually(true: Callable[[], Any]) -> None:
    """Wait until something is true."""
    for _ in range(2400):
        if await said if inspect.isawaitable(said := true()) else said:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it has not become true")


async def told_of(session: Session) -> list[Event]:
    async with aclosing(session.events()) as events:
        return [event async for event in events]


async def test_a_session_is_run_by_a_worker_with_a_home_of_its_own(
    settings: Settings, machine: Settings
) -> None:
    session = Session.start(QUESTION, settings=settings)
    async with worker(machine):
        result = await session.result()
    assert result.status == "completed"
    assert len(result.sources) > 2
    assert result.session_dir == str(session.folder)
    mine = {path.name for path in session.folder.rglob("*") if path.is_file()}
    theirs = machine.home / "sessions" / session.session_id
    there = {path.name for path in theirs.rglob("*") if path.is_file()}
    assert mine == there
    assert "session.sqlite" not in mine
    assert not differing(drawn(settings.home), drawn(machine.home))
    assert whole_result(session.folder) == result


async def test_a_worker_and_who_watches_it_may_have_the_same_home(settings: Settings) -> None:
    session = Session.start(QUESTION, settings=settings)
    async with worker(settings):
        result = await session.result()
    log = [event for event in read_log(session.folder) if event]
    assert isinstance(log[0], Started) and isinstance(log[-1], Finished)
    assert whole_result(session.folder) == result
    assert not any(isinstance(event, Ended) for event in log)


async def test_what_is_told_is_told_to_whoever_watches_on_whatever_machine(
    settings: Settings, machine: Settings
) -> None:
    session = Session.start(QUESTION, settings=settings)
    third = settings.with_(home=settings.home / "third")
    async with worker(machine):
        watching = asyncio.create_task(told_of(session))
        await eventually(lambda: find(third, session.session_id))
        told = await told_of(Session.resume(session.session_id, settings=third))
        first = await watching
    assert [event.type for event in told] == [event.type for event in first]
    assert isinstance(told[0], Started) and isinstance(told[-1], Finished)
    late = await told_of(Session.resume(session.session_id, settings=third))
    assert isinstance(late[-1], Finished) and late[-1].result == told[-1].result


async def test_a_session_that_is_over_is_known_on_every_machine(
    settings: Settings, machine: Settings
) -> None:
    session = Session.start(QUESTION, settings=settings)
    async with worker(machine):
        result = await session.result()
    third = settings.with_(home=settings.home / "third")
    await know_all(third)
    [listed] = list_sessions(third.home)
    assert (listed.id, listed.query, listed.status) == (session.session_id, QUESTION, "completed")
    assert not await find(third, session.session_id)
    folder = third.home / "sessions" / session.session_id
    found = whole_result(folder)
    assert found and found.report == result.report and found.session_dir == str(folder)
    for source in result.sources:
        assert read_page(folder, source.content_hash)
    await forget(third, session.session_id)
    fourth = settings.with_(home=settings.home / "fourth")
    await know_all(fourth)
    assert not list(list_sessions(fourth.home))


async def test_a_session_is_replayed_on_another_machine_from_what_it_has_heard(
    settings: Settings, machine: Settings
) -> None:
    session = Session.start(QUESTION, settings=settings)
    async with worker(machine):
        result = await session.result()
    third = settings.with_(home=settings.home / "third")
    await bring_recording(third, session.session_id)
    done = await replay(third.home, session.session_id)
    assert done.result.report == result.report
    assert done.replayed > 10 and not done.missing
    assert whole_result(third.home / "sessions" / session.session_id)


async def test_a_plan_is_approved_from_another_machine(
    settings: Settings, machine: Settings
) -> None:
    session = Session.start(QUESTION, settings=settings.with_(approve=True))
    told: list[Event] = []
    async with worker(machine), aclosing(session.events()) as events:
        async for event in events:
            told.append(event)
            if isinstance(event, Asked):
                session.answer("Lighthouse")
    [answered] = [event for event in told if isinstance(event, Answered)]
    assert answered.text == "Lighthouse"
    assert isinstance(told[-1], Finished)
    assert [topic.name for topic in told[-1].result.topics] == ["Lighthouse"]


async def test_who_stops_a_session_gets_what_there_is(
    settings: Settings, machine: Settings, world: World
) -> None:
    world.hang_everything = True
    session = Session.start(QUESTION, settings=settings)
    async with worker(machine), aclosing(session.events()) as events:
        async for event in events:
            if isinstance(event, Reading):
                session.stop()
            if isinstance(event, Finished):
                assert event.result.stopped_by == "stop"


async def test_watchers_of_one_that_does_not_tell_of_its_end_in_time_are_let_go(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs_module, "CANCEL_SECONDS", 0)
    runs = Runs(settings)
    session = Session.start(QUESTION, settings=settings)
    run = runs.start(session)
    async with aclosing(run.watch(0)) as events:
        assert isinstance((await anext(events))[1], Notice)
        await runs.cancel(session.session_id)
        async with asyncio.timeout(5):
            assert isinstance([event async for _, event in events][-1], Ended)
    assert runs.find_running(session.session_id) is None
    await runs.close()


async def test_a_session_that_is_cancelled_ends_and_can_be_taken_up(
    settings: Settings, machine: Settings, world: World
) -> None:
    world.hang_everything = True
    session = Session.start(QUESTION, settings=settings)
    async with worker(machine):
        async with aclosing(session.events()) as events:
            with pytest.raises(SessionError, match="cancelled"):
                async for event in events:
                    if isinstance(event, Reading):
                        assert await cancel(session)
        world.hang_everything = False
        again = Session.resume(session.session_id, settings=settings)
        result = await again.result()
    assert result.status == "completed"
    log = [event for event in read_log(session.folder) if event]
    assert sum(isinstance(event, Ended) for event in log) == 1
    assert isinstance(log[-1], Finished)


async def test_who_leaves_does_not_end_the_run(settings: Settings, machine: Settings) -> None:
    session = Session.start(QUESTION, settings=settings)
    async with worker(machine):
        async with aclosing(session.events()) as events:
            async for _ in events:
                break
        result = await Session.resume(session.session_id, settings=settings).result()
    assert result.status == "completed"


async def test_files_that_are_given_along_and_the_session_that_is_followed_reach_the_worker(
    settings: Settings, machine: Settings, tmp_path: Path
) -> None:
    note = tmp_path / "note.md"
    note.write_text("# Port Aldermere\n\nPort Aldermere has 51,200 inhabitants and a lighthouse.\n")
    first = Session.start(QUESTION, settings=settings, attachments=[note])
    async with worker(machine):
        result = await first.result()
        second = Session.start("And when?", settings=settings, follows=first.session_id)
        follow_up = await second.result()
    assert any("note.md" in source.url or "note" in source.title for source in result.sources)
    assert follow_up.status == "completed"
    assert (machine.home / "sessions" / first.session_id / "attachments" / "note.md").is_file()


async def test_what_fails_is_told_in_a_sentence(settings: Settings, machine: Settings) -> None:
    session = Session.start(QUESTION, settings=settings.with_(search="nonesuch"))
    async with worker(machine):
        with pytest.raises(SessionError, match="nonesuch"):
            await session.result()


async def test_where_no_worker_runs_that_is_said(settings: Settings) -> None:
    said: list[str] = []
    session = Session.start(QUESTION, settings=settings)
    async with aclosing(session.events(progress=said.append)) as events:
        coming = asyncio.ensure_future(anext(events))
        await eventually(lambda: said)
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
    assert "No worker is running" in said[0]


async def test_a_session_whose_job_a_worker_has_never_heard_of_is_run(
    settings: Settings, machine: Settings, database: str
) -> None:
    """The queue has given its job to a worker that lives; the answer was lost on its way."""
    session = Session.start(QUESTION, settings=settings)
    running = asyncio.create_task(session.result())
    count = "SELECT count(*) FROM procrastinate_jobs"
    async with await AsyncConnection.connect(
        database, autocommit=True, options="-c search_path=spadework"
    ) as connection:

        async def put() -> bool:
            with suppress(UndefinedTable):
                return (await (await connection.execute(count)).fetchone()) == (1,)
            return False

        await eventually(put)
        for statement in (
            "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() + interval '1 day')",
            "UPDATE procrastinate_jobs SET status = 'doing',"
            " worker_id = (SELECT id FROM procrastinate_workers)",
            "UPDATE procrastinate_events SET at = now() - interval '2 minutes'",
            "UPDATE sessions SET changed_at = now() - interval '3 minutes'",
        ):
            await connection.execute(statement.encode())
    async with worker(machine):
        result = await running
    assert result.status == "completed"

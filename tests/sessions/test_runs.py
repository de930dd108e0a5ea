"""Runs of a server: any number of watchers, each event once and in order, also for who comes late,
back, or after a restart.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from spadework.errors import SessionNotFound
from spadework.events import Asked, Ended, Event, Finished
from spadework.sessions.metrics.session_index import LOG
from spadework.sessions.record.log import log_event, read_log
from spadework.sessions.runs import SERVED, Runs
from spadework.sessions.session import Session
from spadework.sessions.storage.files import read_progress
from spadework.sessions.users import People
from spadework.settings import Settings


async def recorded(
    events: AsyncIterator[tuple[int, Event]], after: int = 0
) -> AsyncIterator[tuple[int, Event]]:
    """The events without passing notes, which have the number of the event before them."""
    async for n, event in events:
        if n > after:
            after = n
            yield n, event


async def watched(runs: Runs, session_id: str, after: int = 0) -> list[tuple[int, Event]]:
    async with aclosing(runs.watch(session_id, after)) as events:
        return [numbered async for numbered in recorded(events, after)]


async def test_every_watcher_gets_every_event_once_and_in_order(settings: Settings) -> None:
    runs = Runs(settings)
    session = Session.start("What is the Quillon?", settings=settings)
    runs.start(session)
    seen = await asyncio.gather(*(watched(runs, session.session_id) for _ in range(20)))
    numbers = [n for n, _ in seen[0]]
    assert numbers == list(range(1, len(numbers) + 1))
    assert all(other == seen[0] for other in seen)
    assert isinstance(seen[0][-1][1], Finished)
    assert await watched(runs, session.session_id) == seen[0], (
        "who comes when it is over reads the same in the log"
    )
    await runs.close()


async def test_who_comes_back_gets_only_what_is_new(settings: Settings) -> None:
    runs = Runs(settings)
    session = Session.start("What is the Quillon?", settings=settings)
    runs.start(session)
    async with aclosing(runs.watch(session.session_id)) as events:
        first = [n async for n, _ in _first(events, 3)]
    rest = await watched(runs, session.session_id, after=3)
    assert first == [1, 2, 3]
    assert rest[0][0] == 4
    assert isinstance(rest[-1][1], Finished)
    await runs.close()


async def test_a_run_cut_off_with_its_server_is_taken_up_by_the_next(settings: Settings) -> None:
    settings = settings.with_(approve=True)
    runs = Runs(settings)
    session = Session.start("What is the Quillon?", settings=settings)
    runs.start(session)
    before = await _until(runs, session.session_id, Asked)
    await runs.close()
    assert (session.folder / SERVED).exists()

    after = Runs(settings)
    [run] = await after.take_up()
    await _until(after, session.session_id, Asked, after=len(before))
    run.session.answer("")
    told = await watched(after, session.session_id)
    assert [n for n, _ in told] == list(range(1, len(told) + 1))
    assert told[: len(before)] == before
    assert isinstance(told[-1][1], Finished)
    assert not (session.folder / SERVED).exists()
    assert await after.take_up() == []
    await after.close()


async def test_a_run_of_a_user_is_taken_up_as_a_part_of_the_server(settings: Settings) -> None:
    anna = People(settings.with_(approve=True)).settings_of("anna")
    runs = Runs(anna)
    session = Session.start("What is the Quillon?", settings=anna)
    runs.start(session)
    await _until(runs, session.session_id, Asked)
    await runs.close()

    after = Runs(anna)
    [run] = await after.take_up()
    assert (run.session.settings.owner, run.session.settings.common) == (
        "users/anna",
        settings.home,
    )
    await after.close()


async def test_a_cancelled_run_ends_without_a_report_and_can_be_resumed(settings: Settings) -> None:
    settings = settings.with_(approve=True)
    runs = Runs(settings)
    session = Session.start("What is the Quillon?", settings=settings)
    runs.start(session)
    await _until(runs, session.session_id, Asked)
    await runs.cancel(session.session_id)
    told = await watched(runs, session.session_id)
    assert getattr(told[-1][1], "how", "") == "cancelled"
    assert read_progress(session.folder).state == "cancelled"
    assert runs.find_running(session.session_id) is None
    assert await runs.take_up() == [], "what the user cancelled is not taken up by itself"
    run = runs.start(Session.resume(session.session_id, home=settings.home))
    run.session.answer("")
    assert isinstance((await watched(runs, session.session_id))[-1][1], Finished)
    assert read_progress(session.folder).state == "completed"
    await runs.close()
    assert len(asyncio.all_tasks()) == 1, "nothing runs on"


async def test_a_run_that_cannot_begin_says_why(settings: Settings) -> None:
    runs = Runs(settings)
    session = Session.start(
        "What is the Quillon?", settings=settings.with_(search="no-such-engine")
    )
    run = runs.start(session)
    told = [event async for _, event in run.watch(0)]
    assert isinstance(told[-1], Ended)
    assert told[-1].how == "failed"
    assert "no-such-engine" in told[-1].text
    await runs.close()


async def test_an_unknown_session_is_not_watched(settings: Settings) -> None:
    runs = Runs(settings)
    for name in ("nothing", "../x", ""):
        with pytest.raises(SessionNotFound):
            await watched(runs, name)
        with pytest.raises(SessionNotFound):
            await runs.cancel(name)


def test_a_line_that_a_kill_cut_short_does_not_spoil_the_next(tmp_path) -> None:
    log_event(tmp_path, Ended(how="cancelled"))
    with (tmp_path / LOG).open("ab") as file:
        file.write(b'{"type": "ended", "ho')
    log_event(tmp_path, Ended(how="failed", text="a disk"))
    told = [event and (event.type, getattr(event, "text", "")) for event in read_log(tmp_path)]
    assert told == [("ended", ""), None, ("ended", "a disk")]


async def _first(events, most):
    count = 0
    async for numbered in recorded(events):
        yield numbered
        count += 1
        if count == most:
            return


async def _until(
    runs: Runs, session_id: str, kind: type, after: int = 0
) -> list[tuple[int, Event]]:
    seen = []
    async with aclosing(runs.watch(session_id, after)) as events:
        async for numbered in recorded(events, after):
            seen.append(numbered)
            if isinstance(numbered[1], kind):
                return seen
    raise AssertionError(f"no {kind.__name__} came")

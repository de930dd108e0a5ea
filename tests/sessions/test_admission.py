"""Where the process is full, sessions wait in one queue: first come, first served, each told its
place, and none at the cost of its own time.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from spadework.budget import Budget
from spadework.errors import SessionNotFound
from spadework.events import Asked, Event, Finished
from spadework.sessions.admission import Admission, Whose
from spadework.sessions.record.log import read_log
from spadework.sessions.runs import Runs
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Hit, Query
from tests.world.held import Held
from tests.world.timing import eventually

QUESTION = "What is the Quillon?"


def room_for(most: int) -> Admission:
    return Admission(lambda inside: inside < most)


async def visit(
    admission: Admission, name: int, came: list[int], *, most: int = 100, told: list[object] | None
) -> None:
    def heard(place: int, of: int) -> None:
        if told is not None:
            told.append((name, place, of))

    async with admission.place(most, asyncio.Event(), heard):
        came.append(name)
        await asyncio.sleep(0)


async def test_those_who_wait_come_in_in_their_order_and_are_told_every_place() -> None:
    admission, came, told = room_for(1), list[int](), list[object]()
    await asyncio.gather(*(visit(admission, n, came, told=told) for n in range(4)))
    assert came == [0, 1, 2, 3]
    assert [heard for heard in told if heard[0] == 3] == [  # type: ignore[index]
        (3, 3, 3),
        (3, 2, 2),
        (3, 1, 1),
    ]
    assert not [heard for heard in told if heard[0] == 0]  # type: ignore[index]
    assert admission.inside == 0


@pytest.mark.skipif(sys.platform != "linux", reason="other systems give back by themselves")
async def test_what_nothing_holds_any_more_is_given_back_when_the_last_has_left() -> None:
    own, admission = psutil.Process(), room_for(2)

    def rss() -> int:
        return own.memory_info().rss

    async with admission.place(2, asyncio.Event(), print):
        async with admission.place(2, asyncio.Event(), print):
            pages = [bytes(1_000) for _ in range(100_000)]
            pinned, full = pages.pop(), rss()
            del pages
        beside = rss()
    assert beside > full - 50e6, "while somebody is inside, holes are for the next page"
    assert rss() < full - 50e6
    del pinned


async def test_who_is_cancelled_leaves_the_queue() -> None:
    admission, came, told = room_for(1), list[int](), list[object]()
    async with admission.place(9, asyncio.Event(), lambda *_: None):
        first, second = (
            asyncio.create_task(visit(admission, n, came, told=told)) for n in range(2)
        )
        await eventually(lambda: (1, 2, 2) in told)
        first.cancel()
        await eventually(lambda: (1, 1, 1) in told)
    await asyncio.gather(first, second, return_exceptions=True)
    assert came == [1]
    assert admission.inside == 0


async def test_who_shall_stop_waits_no_longer() -> None:
    admission, stop = room_for(1), asyncio.Event()
    async with admission.place(9, asyncio.Event(), lambda *_: None):
        asyncio.get_running_loop().call_soon(stop.set)
        async with asyncio.timeout(5), admission.place(9, stop, lambda *_: None):
            assert admission.inside == 2


async def test_a_user_who_thinks_keeps_nobody_out() -> None:
    admission = room_for(1)
    async with admission.place(9, asyncio.Event(), lambda *_: None):
        with admission.stepped_out():
            async with asyncio.timeout(5), admission.place(9, asyncio.Event(), lambda *_: None):
                pass
        assert admission.inside == 1


def test_all_threads_wait_in_one_queue() -> None:
    admission, lock = room_for(2), threading.Lock()
    inside, most = 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with admission.place(9, asyncio.Event(), lambda *_: None):
            with lock:
                inside += 1
                most = max(most, inside)
            await asyncio.sleep(0.01)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: asyncio.run(one()), range(8)))
    assert (inside, most, admission.inside) == (0, 2, 0)


async def test_waiting_takes_nothing_of_a_run_s_time(settings: Settings) -> None:
    settings, held, told = settings.with_(parallel_sessions=1), Held(), list[str]()
    first = Session.start(QUESTION, settings=settings).search_with(held)
    second = Session.start(QUESTION, settings=settings.with_(minutes=0.5))
    running = asyncio.create_task(first.result())
    await eventually(lambda: held.asked)

    async def waits() -> list[str]:
        async with aclosing(second.events(told.append)) as events:
            return [event.type async for event in events]

    waiting = asyncio.create_task(waits())
    await eventually(lambda: told)
    before = second.budget.seconds_left()
    await asyncio.sleep(0.3)
    assert second.budget.seconds_left() == before, "its clock stands still"
    held.go.set()
    assert (await waiting)[-1] == "finished"
    assert told == ["Other questions are being researched. You are number 1 of 1 in the queue."]
    await running


async def test_one_that_waited_when_its_server_was_stopped_is_taken_up(settings: Settings) -> None:
    settings, held = settings.with_(parallel_sessions=1), Held()
    runs = Runs(settings)
    runs.start(Session.start(QUESTION, settings=settings).search_with(held))
    await eventually(lambda: held.asked)
    waiting = runs.start(Session.start("Who designed the Quillon?", settings=settings))
    await eventually(lambda: waiting.notes)
    await runs.close()

    after = Runs(settings)
    taken_up = {run.session.question: run for run in await after.take_up()}
    run = taken_up["Who designed the Quillon?"]
    told = [event async for _, event in run.watch(0)]
    assert isinstance(told[-1], Finished)
    await after.close()


async def test_one_that_another_has_ended_meanwhile_is_not_run_again(settings: Settings) -> None:
    settings, held = settings.with_(parallel_sessions=1), Held()
    running = asyncio.create_task(
        Session.start("Who is first?", settings=settings).search_with(held).result()
    )
    await eventually(lambda: held.asked)
    session = Session.start(QUESTION, settings=settings)
    same = Session(session.session_id, session.brief, settings, Budget.of(settings))
    told = list[str]()

    async def ran(one: Session) -> list[Event]:
        async with aclosing(one.events(told.append)) as events:
            return [event async for event in events]

    both = list[asyncio.Task[list[Event]]]()
    for one in (session, same):
        both.append(asyncio.create_task(ran(one)))
        await eventually(lambda: len(told) == len(both))
    held.go.set()
    first, second = await asyncio.gather(*both)
    await running
    assert [event.type for event in second] == ["started", "finished"]
    assert isinstance(first[-1], Finished) and isinstance(second[-1], Finished)
    assert second[-1].result == first[-1].result
    [searched] = session.folder.glob("search_workproduct_*.md")
    assert "### “" in searched.read_text()
    assert [event.type for event in read_log(session.folder) if event].count("finished") == 1


async def test_one_that_waits_can_be_cancelled_and_asks_nothing(settings: Settings) -> None:
    settings, held = settings.with_(parallel_sessions=1), Held()
    runs = Runs(settings)
    runs.start(Session.start(QUESTION, settings=settings).search_with(held))
    await eventually(lambda: held.asked)
    waiting = runs.start(Session.start(QUESTION, settings=settings))
    await eventually(lambda: waiting.notes)
    await runs.cancel(waiting.session.session_id)
    assert [event.type for event in waiting.recorded if event] == ["ended"]
    with pytest.raises(SessionNotFound):
        await runs.cancel(waiting.session.session_id)
    await runs.close()


async def test_a_session_that_one_runs_within_does_not_wait_for_its_end(settings: Settings) -> None:
    settings = settings.with_(parallel_sessions=1)

    class Within(Held):
        async def search(self, query: Query, *, limit: int, seconds: float) -> list[Hit]:
            found = await Session.start(QUESTION, settings=settings).result()
            assert found.sources
            return [
                Hit(url=s.url, title=s.title, snippet="", position=1, provider=self.name)
                for s in found.sources
            ]

    async with asyncio.timeout(60):
        result = await Session.start(QUESTION, settings=settings).search_with(Within()).result()
    assert result.status == "completed"


async def test_a_plan_that_waits_for_its_approval_keeps_nobody_out(settings: Settings) -> None:
    settings = settings.with_(parallel_sessions=1)
    asking = Session.start(QUESTION, settings=settings.with_(approve=True))
    async with aclosing(asking.events()) as events:
        async for event in events:
            if isinstance(event, Asked):
                async with asyncio.timeout(60):
                    other = await Session.start(QUESTION, settings=settings).result()
                assert other.status == "completed"
                asking.answer("")
    assert isinstance(event, Finished)


MANY = """
import asyncio, json, resource, sys
sessions, descriptors = map(int, sys.argv[1:])
resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))
from spadework import Session, Settings
from spadework.events import Started
inside, most = set(), 0
async def one(n):
    global most
    session = Session.start(f"What is the Quillon number {n}?", settings=Settings.load())
    async for event in session.events():
        if isinstance(event, Started):
            inside.add(n)
            most = max(most, len(inside))
        if event.type == "finished":
            inside.discard(n)
            return event.result.status
async def all():
    return await asyncio.gather(*(one(n) for n in range(sessions)))
statuses = asyncio.run(all())
print(json.dumps([most, statuses]))
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of descriptors")
def test_sessions_wait_where_the_process_may_open_no_more_files(
    notes: Path, tmp_path: Path
) -> None:
    env = {"SPADEWORK_SEARCH": "library", "SPADEWORK_LIBRARY": str(notes)}
    done = subprocess.run(
        [sys.executable, "-c", MANY, "8", "256"],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    most, statuses = json.loads(done.stdout)
    assert statuses == ["completed"] * 8
    assert 1 <= most <= 3


async def test_who_asks_much_is_not_let_in_before_who_asks_little() -> None:
    admission, came = room_for(1), list[str]()

    async def visit_as(user: str, most: int = 0) -> None:
        async with admission.place(9, asyncio.Event(), lambda *_: None, Whose(user, most)):
            came.append(user)
            await asyncio.sleep(0)

    async with admission.place(9, asyncio.Event(), lambda *_: None, Whose("anna")):
        waits = [asyncio.create_task(visit_as(user)) for user in ("anna", "anna", "bob", "anna")]
        await eventually(lambda: admission.queue_length == 4)
    await asyncio.gather(*waits)
    assert came == ["bob", "anna", "anna", "anna"]


async def test_who_has_as_many_inside_as_may_be_waits_and_holds_up_nobody() -> None:
    admission, told, came = room_for(9), list[tuple[int, int]](), asyncio.Event()

    async def second() -> None:
        def heard(place: int, of: int) -> None:
            told.append((place, of))

        async with admission.place(9, asyncio.Event(), heard, Whose("anna", 1)):
            came.set()

    async with admission.place(9, asyncio.Event(), lambda *_: None, Whose("anna", 1)):
        waits = asyncio.create_task(second())
        await eventually(lambda: told == [(1, 1)])
        async with (
            asyncio.timeout(5),
            admission.place(9, asyncio.Event(), lambda *_: None, Whose("bob", 1)),
        ):
            assert (admission.inside_of("anna"), admission.inside_of("bob")) == (1, 1)
        with admission.stepped_out("anna"):
            await came.wait()
    await waits
    assert admission.inside == 0

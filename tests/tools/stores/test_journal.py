"""The journal: done once, also by two at a time, also after a crash; failures kept only when they
are final.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from spadework.budget import Budget, HoldRequest
from spadework.errors import Blocked, BudgetSpent, SearchError, TooSlow
from spadework.tools.stores import exchanges
from spadework.tools.stores.cassette import Recording
from spadework.tools.stores.exchanges import Request, Tape, last_text
from spadework.tools.stores.journal import Ask, Journal


class Work:
    """Counts how often it is done."""

    def __init__(self, answer: list[int] | Exception) -> None:
        self.answer = answer
        self.times = 0
        self.begun = asyncio.Event()
        self.go = asyncio.Event()

    async def __call__(self) -> list[int]:
        self.times += 1
        self.begun.set()
        await self.go.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


async def test_work_is_done_once_for_a_key_also_when_the_journal_is_opened_again(
    tmp_path: Path,
) -> None:
    work = Work([1, 2])
    work.go.set()
    for _ in range(2):
        journal = await Journal.open(tmp_path / "j.sqlite", Budget())
        assert await journal.once("search", {"q": "x"}, list[int], work) == [1, 2]
        await journal.close()
    assert work.times == 1


async def test_what_is_known_can_be_looked_up_without_doing_it(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "j.sqlite", Budget())
    assert await journal.find("search", "x", list[int]) is None
    done, failed = Work([1]), Work(Blocked("no"))
    done.go.set()
    failed.go.set()
    await journal.once("search", "x", list[int], done)
    with pytest.raises(Blocked):
        await journal.once("page", "x", list[int], failed)
    assert await journal.find("search", "x", list[int]) == [1]
    with pytest.raises(Blocked, match="no"):
        await journal.find("page", "x", list[int])
    await journal.close()


async def test_another_kind_or_key_is_other_work(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "j.sqlite", Budget())
    work = Work([1])
    work.go.set()
    for kind, key in (("search", "a"), ("search", "b"), ("page", "a")):
        await journal.once(kind, key, list[int], work)
    await journal.close()
    assert work.times == 3


async def test_two_who_want_the_same_at_once_share_it(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "j.sqlite", Budget())
    work = Work([7])
    both = asyncio.gather(*(journal.once("page", "u", list[int], work) for _ in range(2)))
    await asyncio.sleep(0)
    work.go.set()
    assert await both == [[7], [7]]
    await journal.close()
    assert work.times == 1


async def test_when_the_first_is_cancelled_the_second_does_the_work(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "j.sqlite", Budget())
    work = Work([7])
    first = asyncio.create_task(journal.once("page", "u", list[int], work))
    await work.begun.wait()
    second = asyncio.create_task(journal.once("page", "u", list[int], work))
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    work.go.set()
    assert await second == [7]
    await journal.close()


@pytest.mark.parametrize(
    ("error", "times"), [(Blocked("no", hint="ask the owner"), 1), (TooSlow("late"), 2)]
)
async def test_a_final_failure_is_kept_and_a_passing_one_tried_again(
    tmp_path: Path, error: Exception, times: int
) -> None:
    journal = await Journal.open(tmp_path / "j.sqlite", Budget())
    work = Work(error)
    work.go.set()
    for _ in range(2):
        with pytest.raises(type(error), match=str(error)):
            await journal.once("page", "u", list[int], work)
    await journal.close()
    assert work.times == times


async def test_a_run_that_is_taken_up_knows_what_it_had_used(tmp_path: Path) -> None:
    budget = Budget(minutes=10)
    journal = await Journal.open(tmp_path / "j.sqlite", budget)
    budget.start(budget.started - 120)
    budget.charge("searches")
    work = Work([1])
    work.go.set()
    await journal.once("search", "q", list[int], work)
    await journal.close()
    later = Budget(minutes=10)
    journal = await Journal.open(tmp_path / "j.sqlite", later)
    await journal.close()
    assert later.used.searches == 1
    assert later.seconds_left() == pytest.approx(480, abs=2)


async def paid(budget: Budget, used: tuple[int, int], price: float) -> None:
    """Charge a model call."""
    hold = await budget.hold(HoldRequest(told=used[0], usual=200, most=200), until=time.monotonic())
    budget.settle(hold, used=used, price=price)


async def test_a_run_that_is_killed_has_paid_what_was_answered_and_nothing_else(
    tmp_path: Path,
) -> None:
    """Two calls run when the first answer is written down: its row holds its charge alone."""
    path, budget = tmp_path / "j.sqlite", Budget()
    journal = await Journal.open(path, budget)
    second = asyncio.Event()

    async def quick(tape: Tape) -> str:
        await paid(budget, (100, 10), 0.1)
        tape.add({}, b"one")
        return "one"

    async def slow(tape: Tape) -> str:
        await paid(budget, (200, 20), 0.2)
        second.set()
        await asyncio.Event().wait()
        raise AssertionError("it is killed before")

    async def answered(tape: Tape) -> str:
        await paid(budget, (200, 20), 0.2)
        tape.add({}, b"two")
        return "two"

    running = asyncio.create_task(journal.exchange(Request("model", "2"), slow, last_text))
    await second.wait()
    await journal.exchange(Request("model", "1"), quick, last_text)
    shutil.copy(path, tmp_path / "killed.sqlite")
    shutil.copy(tmp_path / "j.sqlite-wal", tmp_path / "killed.sqlite-wal")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await journal.close()

    budget = Budget()
    journal = await Journal.open(tmp_path / "killed.sqlite", budget)
    assert (budget.used.model_calls, budget.used.tokens_in, budget.used.money) == (1, 100, 0.1)
    assert await journal.exchange(Request("model", "1"), slow, last_text) == "one"
    assert await journal.exchange(Request("model", "2"), answered, last_text) == "two"
    assert (budget.used.model_calls, budget.used.tokens_in) == (2, 300)
    await journal.close()


async def test_what_a_failure_and_a_cancelled_call_have_cost_is_remembered(tmp_path: Path) -> None:
    budget = Budget()
    journal = await Journal.open(tmp_path / "j.sqlite", budget)
    begun = asyncio.Event()

    async def failed(tape: Tape) -> str:
        budget.charge("searches")
        raise SearchError("It broke.")

    async def hung(tape: Tape) -> str:
        budget.charge("searches")
        begun.set()
        await asyncio.Event().wait()
        raise AssertionError("it is cancelled")

    with pytest.raises(SearchError):
        await journal.exchange(Request("search", "1"), failed, last_text)
    hanging = asyncio.create_task(journal.exchange(Request("search", "2"), hung, last_text))
    await begun.wait()
    hanging.cancel()
    await asyncio.gather(hanging, return_exceptions=True)
    await journal.close()
    later = Budget()
    journal = await Journal.open(tmp_path / "j.sqlite", later)
    await journal.close()
    assert later.used.searches == 2


@pytest.mark.parametrize(
    ("error", "times"), [(Blocked("no", hint="ask the owner"), 1), (SearchError("late"), 2)]
)
async def test_an_exchange_that_failed_for_good_is_not_had_again(
    tmp_path: Path, error: Exception, times: int
) -> None:
    asked = 0

    async def ask(tape: Tape) -> str:
        nonlocal asked
        asked += 1
        raise error

    for _ in range(2):
        journal = await Journal.open(tmp_path / "j.sqlite", Budget())
        with pytest.raises(type(error), match=str(error)):
            await journal.exchange(Request("page", "u"), ask, last_text)
        await journal.close()
    assert asked == times


async def test_what_failed_before_a_run_was_taken_up_has_not_failed_in_its_replay(
    tmp_path: Path,
) -> None:
    request, answers = Request("search", "q"), iter([SearchError("late"), SearchError("again"), ""])

    async def ask(tape: Tape) -> str:
        tape.add({}, b"found")
        if isinstance(answer := next(answers), SearchError):
            raise answer
        return "found"

    for expected in (SearchError, None):
        journal = await Journal.open(tmp_path / "j.sqlite", Budget())
        await journal.note("opened", "", {})
        if expected:
            with pytest.raises(expected):
                await journal.exchange(request, ask, last_text)
        else:
            with pytest.raises(SearchError, match="again"):
                await journal.exchange(request, ask, last_text)
            assert await journal.exchange(request, ask, last_text) == "found"
        await journal.close()
    recording = await Recording.open(tmp_path / "j.sqlite")
    errors = [(await recording.row(request)).error for _ in range(2)]
    await recording.aclose()
    assert "again" in (errors[0] or "")
    assert errors[1] is None


async def test_a_run_that_is_taken_up_knows_which_purse_was_empty(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "j.sqlite", budget := Budget(tokens=10))

    async def ask(tape: Tape) -> str:
        await paid(budget, (100, 10), 0.1)
        raise AssertionError("it cannot be paid")

    with pytest.raises(BudgetSpent):
        await journal.exchange(Request("model", "1"), ask, last_text)
    await journal.close()
    journal = await Journal.open(tmp_path / "j.sqlite", later := Budget(tokens=10))
    await journal.close()
    assert later.refused == budget.refused == "tokens"


async def test_bytes_for_which_there_is_no_room_are_not_kept_and_all_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exchanges, "MOST_BYTES", 2_000)
    journal = await Journal.open(tmp_path / "j.sqlite", Budget())
    noise = random.Random(7)
    times = list[str]()

    def page(n: int) -> Ask[str]:
        async def ask(tape: Tape) -> str:
            times.append(str(n))
            tape.add({}, noise.randbytes(900))
            return str(n)

        return ask

    async def read(tape: Tape) -> str:
        return "read again"

    for _ in range(2):
        for n in range(4):
            await journal.exchange(Request("page", str(n)), page(n), read)
    await journal.close()
    assert times == ["0", "1", "2", "3", "2", "3"], "only what was not kept is asked again"
    with closing(sqlite3.connect(tmp_path / "j.sqlite")) as db:
        assert db.execute("SELECT count(*) FROM bodies").fetchone() == (2,)


async def test_an_answer_that_is_damaged_is_had_anew(tmp_path: Path) -> None:
    journal = await Journal.open(tmp_path / "j.sqlite", Budget())
    work = Work([1])
    work.go.set()
    await journal.once("search", "q", list[int], work)
    await journal.connection.execute_fetchall("UPDATE journal SET answer = '[1'")
    assert await journal.once("search", "q", list[int], work) == [1]
    await journal.close()
    assert work.times == 2


async def test_a_write_that_comes_while_the_file_is_closed_leaves_no_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spadework.tools.stores.session_database.BUSY_SECONDS", 0.2)
    path = tmp_path / "j.sqlite"
    journal = await Journal.open(path, Budget())
    db = journal.connection
    await db.execute_fetchall("CREATE TABLE checkpoints AS SELECT 1 AS n UNION ALL SELECT 2")
    # A cursor of a cancelled run that outlives the connection, and a checkpoint that the run still
    # writes.
    kept = await db.execute("SELECT n FROM checkpoints")

    async def late() -> object:
        return await db.execute("INSERT INTO checkpoints VALUES (3)")

    await asyncio.gather(journal.close(), late(), return_exceptions=True)
    again = await Journal.open(path, Budget())
    await again.once("page", "x", str, _answer)
    await again.close()
    assert kept


async def _answer() -> str:
    return "an answer"


def test_who_is_struck_while_it_opens_leaves_no_thread_behind_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, failed = sqlite3.connect, list[threading.ExceptHookArgs]()

    def slow(*given: Any, **named: Any) -> sqlite3.Connection:
        time.sleep(0.02)  # as on a busy disk
        return connect(*given, **named)

    monkeypatch.setattr(sqlite3, "connect", slow)
    monkeypatch.setattr(threading, "excepthook", failed.append)

    async def struck(turns: int) -> None:
        opening = asyncio.create_task(Journal.open(tmp_path / "session.sqlite", Budget()))
        for _ in range(turns):
            await asyncio.sleep(0)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening

    before = set(threading.enumerate())
    for turns in range(1, 6):
        asyncio.run(struck(turns))
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
    assert failed == []


# All of it takes a moment; who waits for a thread that has ended already waits BUSY_SECONDS.
@pytest.mark.timeout(15)
@pytest.mark.parametrize("statement", range(1, 5))
async def test_who_is_struck_while_it_closes_waits_for_no_thread_that_has_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: int
) -> None:
    journal = await Journal.open(tmp_path / "session.sqlite", Budget())
    db, asked, reached = journal.connection, 0, asyncio.Event()
    monkeypatch.setattr(db, "_tx", tx := _Told(db._tx))  # what it asks of its thread

    def told() -> None:
        nonlocal asked
        asked += 1
        if asked == statement:
            reached.set()

    tx.tell = told
    closing = asyncio.create_task(journal.close())
    await reached.wait()
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    await asyncio.to_thread(db._thread.join, 10)
    assert not db._thread.is_alive()


class _Told:
    """A queue that tells of what is put into it."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self.tell: Callable[[], None] = lambda: None

    def put_nowait(self, item: Any) -> None:
        self._queue.put_nowait(item)
        self.tell()

"""A run whose time is nearly over when it begins, on a busy machine, still ends with a report."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from functools import partial
from typing import Any

import pytest

from spadework.agents.llm.client import Model
from spadework.budget import Budget
from spadework.deadline import CLOSING_DRAFTS, CLOSING_SECONDS
from spadework.graph import research as graph
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.library.library import Library
from spadework.values import Result
from tests.world.timing import eventually

SECONDS = 10.0


async def ran(settings: Settings, used: float) -> Result:
    """What comes of a run of ten seconds of which so many are used when it begins."""
    budget = Budget(minutes=SECONDS / 60)
    session = Session.start("What is known about Aldermere?", settings=settings, budget=budget)
    budget.start(time.monotonic() - used)
    return await session.result()


async def test_loading_a_model_for_longer_than_there_is_time_is_no_fault_of_the_disk(
    online: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Model, "check", lambda _: time.sleep(2.4))
    result = await ran(online, 7.8)
    assert result.status == "time_limited"
    assert not [problem for problem in result.problems if "disk" in problem.reason]


async def test_the_clock_starts_once_the_library_is_indexed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Library.open

    async def index(*args: Any, **kwargs: Any) -> Library:
        await asyncio.sleep(1)
        return await opened(*args, **kwargs)

    monkeypatch.setattr(Library, "open", index)
    began = time.monotonic()
    result = await Session.start("What is known about Aldermere?", settings=settings).result()
    assert result.sources
    assert result.timings["total"] < time.monotonic() - began - 1


async def test_as_long_as_drafts_take_is_reserved_for_closing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    drafted = graph.draft

    def take_long(state: Any) -> str:
        time.sleep(0.7)
        return drafted(state)

    monkeypatch.setattr(graph, "draft", take_long)
    session = Session.start("What is known about Aldermere?", settings=settings)
    await session.result()
    assert session.budget.reserve >= 0.7 * CLOSING_DRAFTS > CLOSING_SECONDS


async def test_no_model_is_loaded_where_only_writing_has_time(
    online: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = []
    monkeypatch.setattr(Model, "check", lambda _: loaded.append(1))
    result = await ran(online, 8.2)
    assert result.status == "time_limited"
    assert not loaded


async def test_a_journal_that_hangs_only_when_it_is_to_keep_the_report_holds_no_report(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go = threading.Event()

    class Hanging(sqlite3.Connection):
        def execute(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
            if "INTO checkpoints" in statement:
                time.sleep(0.2)  # so that the graph does not come to the report
            if "INTO journal" in statement and "report" in values:
                let_go.wait(50)
            return super().execute(statement, values)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Hanging))
    try:
        async with asyncio.timeout(20):
            result = await ran(settings, SECONDS)
    finally:
        let_go.set()
        await eventually(lambda: "_connection_worker_thread" not in str(threading.enumerate()))
    assert result.report.startswith("# What is known about Aldermere?")

"""A disk that does not answer: the run ends at its deadline, its report is told, and one sentence
says which file could not be written.
"""

from __future__ import annotations

import asyncio
import os
import re
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import aclosing, closing
from pathlib import Path

import pytest

from spadework.events import Event, Finished, Notice, Timed
from spadework.sessions.health import check as health_check
from spadework.sessions.record import records
from spadework.sessions.session import Session
from spadework.sessions.storage import disk as late
from spadework.settings import Settings
from spadework.tools.stores import disk
from spadework.tools.stores.private_files import disk_fault
from spadework.tools.text.page_text import PageStore
from tests.thinned import thinned
from tests.world.timing import eventually

QUESTION = "How do I use the Quillon?"


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    """Ends what hangs, when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.mark.parametrize(
    "name", ["events.jsonl", "evidence.jsonl", "progress_", "research_report", "result.json"]
)
async def test_a_file_that_cannot_be_written_holds_no_report(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, let_go: threading.Event, name: str
) -> None:
    write, log = records.write_atomically, records.log_lines

    def writes(path: Path, data: bytes) -> None:
        if path.name.startswith(name):
            let_go.wait(50)
        write(path, data)

    def logs(folder: Path, lines: bytes) -> None:
        if name == "events.jsonl" and b'"type":"planned"' in lines:
            let_go.wait(50)
        log(folder, lines)

    monkeypatch.setattr(late, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(records, "write_atomically", writes)
    monkeypatch.setattr(records, "log_lines", logs)
    session, events = Session.start(QUESTION, settings=settings), list[Event]()
    async with asyncio.timeout(30), aclosing(session.events()) as told:
        async for event in told:
            events.append(event)
    assert isinstance(events[-1], Finished)
    assert "forty times" in events[-1].result.report
    said = [e.text for e in events if isinstance(e, Notice) and "does not answer" in e.text]
    assert len(said) == 1
    assert said[0].startswith(name)
    assert f"spadework resume {session.session_id}" in said[0]
    let_go.set()
    monkeypatch.undo()
    again = await Session.resume(session.session_id, settings=settings).result()
    assert again.report == events[-1].result.report
    assert (session.folder / "result.json").exists()


#: What hangs in a process, its exit codes, and what it says.
HANGING = {
    "records.write_atomically": ((0, 3), "could not be written because the disk does not answer"),
    "records.log_lines": ((0, 3), "could not be written because the disk does not answer"),
    "PageStore._write": ((3,), "time_limited"),
}


@pytest.mark.timed
@pytest.mark.parametrize("hanging", thinned(HANGING, 3))
def test_the_process_ends_in_time(settings: Settings, hanging: str) -> None:
    done, seconds = asked(
        settings,
        "from spadework.sessions.record import records",
        "from spadework.tools.text.page_text import PageStore",
        "write = records.write_atomically",
        "def hangs(path, *rest):",
        "    if getattr(path, 'name', '') == 'session_metadata.json':",
        "        return write(path, *rest)",
        "    threading.Event().wait(60)",
        f"{hanging} = hangs",
    )
    codes, said = HANGING[hanging]
    assert done.returncode in codes, done.stderr
    assert done.stdout.startswith(f"# {QUESTION}")
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert seconds < 6 + 2


#: Which statement of the journal hangs, how often it was made before, and whether there is a report
#: by then: one that hangs while it is opened leaves nothing to tell.
STATEMENTS = {
    "quick_check": (0, False),
    "INSERT INTO exchanges": (0, False),
    "INSERT OR REPLACE INTO journal": (0, True),
    "INSERT OR REPLACE INTO checkpoints": (1, True),
}


@pytest.mark.timed
@pytest.mark.parametrize("statement", thinned(STATEMENTS, 2))
def test_a_process_whose_journal_hangs_ends_in_time(settings: Settings, statement: str) -> None:
    times, told = STATEMENTS[statement]
    done, seconds = asked(settings, *journal_hangs(statement, times))
    assert "Traceback" not in done.stderr
    assert "session.sqlite" in done.stderr
    assert re.search("the disk (?:did|does) not answer", done.stderr)
    assert "spadework resume" in done.stderr
    assert done.returncode == (3 if told else 1), done.stderr
    assert done.stdout.startswith(f"# {QUESTION}" if told else "")
    assert seconds < 6 + 2


def journal_hangs(statement: str, times: int) -> list[str]:
    """The code by which a statement of SQLite hangs that was made so many times before."""
    return [
        "import functools, itertools, sqlite3",
        "made = itertools.count()",
        "class Hanging(sqlite3.Connection):",
        "    def execute(self, statement, *rest):",
        f"        if {statement!r} in statement and next(made) >= {times}:",
        "            threading.Event().wait(60)",
        "        return super().execute(statement, *rest)",
        "sqlite3.connect = functools.partial(sqlite3.connect, factory=Hanging)",
    ]


def asked(settings: Settings, *lines: str) -> tuple[subprocess.CompletedProcess[str], float]:
    """A process of six seconds that asks, after these lines of code; and how long it took."""
    code = [
        "import sys, threading",
        "from spadework.apps.cli import console",
        *lines,
        f"sys.argv = ['spadework', 'ask', {QUESTION!r}, '--minutes', '0.1']",
        "console()",
    ]
    env = {
        "SPADEWORK_SEARCH": "library",
        "SPADEWORK_LIBRARY": str(settings.library[0]),
        "SPADEWORK_HOME": str(settings.home),
    }
    began = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(code)],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done, time.monotonic() - began


@pytest.mark.timed
async def test_a_journal_that_another_program_holds_holds_no_report(settings: Settings) -> None:
    short = settings.model_copy(update={"minutes": 0.1})
    session, events, held = Session.start(QUESTION, settings=short), list[Event](), None
    began = time.monotonic()
    async with aclosing(session.events()) as told:
        async for event in told:
            events.append(event)
            if event.type == "planned":  # the clock stands still while the library is indexed
                began = time.monotonic()
            if event.type == "assessed":
                journal = session.folder / "session.sqlite"
                held = sqlite3.connect(journal, timeout=5, check_same_thread=False)
                # In a thread: the session may be about to end a write of its own.
                await asyncio.to_thread(held.execute, "BEGIN IMMEDIATE")
            if isinstance(event, Finished):
                assert time.monotonic() - began < 6 + 2
    assert held
    with closing(held):
        held.rollback()
    assert isinstance(events[-1], Finished)
    assert "forty times" in events[-1].result.report
    assert hanging(events).startswith("session.sqlite")
    result = await Session.resume(session.session_id, settings=settings).result()
    assert "forty times" in result.report
    # The thread of the journal that was given up answers to this event loop: it ends before it.
    await eventually(lambda: not any("_connection_worker" in t.name for t in threading.enumerate()))


@pytest.mark.timed
def test_a_journal_that_hangs_holds_nobody_who_wants_pages_alone(settings: Settings) -> None:
    done, _ = asked(
        settings,
        *journal_hangs("INSERT OR REPLACE INTO journal", 0),
        "import asyncio, os, time",
        "from spadework import Settings, gather",
        "began = time.monotonic()",
        "gathered = asyncio.run(gather('Quillon', Settings.load(minutes=0.1)))",
        "print(gathered.result.status, time.monotonic() - began, flush=True)",
        "os._exit(0)",
    )
    status, seconds = done.stdout.split()
    assert status == "time_limited", done.stderr
    assert float(seconds) < 6 + 3, "a second of it is for closing"


def hanging(events: Sequence[Event]) -> str:
    """The one sentence about a disk that does not answer."""
    assert all(isinstance(event, Timed) for event in events)
    [said] = [e.text for e in events if isinstance(e, Notice) and "does not answer" in e.text]
    return said


async def test_what_never_ends_is_no_longer_waited_for(
    monkeypatch: pytest.MonkeyPatch, let_go: threading.Event, tmp_path: Path
) -> None:
    monkeypatch.setattr(disk, "SECONDS", 0.2)

    def hangs(path: Path) -> None:
        let_go.wait(50)

    with pytest.raises(OSError, match="did not answer") as raised:
        await disk.on_disk(hangs, tmp_path / "page.md")
    assert disk_fault(raised.value) is raised.value
    assert raised.value.filename == str(tmp_path / "page.md")
    monkeypatch.undo()
    assert (await PageStore(tmp_path).put("A lighthouse."))[1] == "A lighthouse."


async def test_a_home_whose_disk_does_not_answer_is_a_check_that_says_so(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, let_go: threading.Event
) -> None:
    monkeypatch.setattr(disk, "SECONDS", 0.05)
    monkeypatch.setattr(health_check, "make_folder", lambda folder: let_go.wait(60))
    [check] = await health_check.home(settings, "the home")
    assert check.state == "slow"
    assert check.text.startswith("The disk that holds the home did not answer")

"""A run's report is printed before anything is closed, and what does not close by its deadline is
dropped with the process.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from spadework.apps.terminal.live_run import Lines, Run
from spadework.graph.context import SessionContext
from spadework.sessions.metrics.run_history import reserve, took
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.values import Result
from tests.hostile.running import ROOT
from tests.sessions.conftest import NOTES
from tests.thinned import thinned

pytestmark = pytest.mark.process

QUESTION = "What is the Quillon?"
SECONDS = 12


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    return tmp_path / "notes"


async def test_the_result_is_delivered_and_on_disk_before_anything_is_closed(
    notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = Settings.load(search="library", library=(notes,), minutes=2)
    said, close = list[str](), SessionContext.close
    loop, delivered = asyncio.get_running_loop(), asyncio.Event()

    async def slowly(context: SessionContext) -> None:
        said.append("closing")
        await delivered.wait()
        await close(context)

    def deliver(result: Result) -> None:
        [written] = Path(result.session_dir).glob("research_report_*.md")
        said.append(written.read_text("utf-8"))
        loop.call_soon_threadsafe(delivered.set)

    monkeypatch.setattr(SessionContext, "close", slowly)
    session = Session.start(QUESTION, settings=settings)
    result = await Run(session, Lines(as_json=True), deliver=deliver).result()
    assert result is not None
    assert sorted(said) == sorted([result.report, "closing"])


#: How a process is kept from closing: by a task that waits for ever, by a thread that does, and by
#: one that does when the process ends.
HANGING = {
    "a task": "await asyncio.Event().wait()",
    "a thread": "await asyncio.to_thread(threading.Event().wait)",
    "a thread that nobody waits for": "threading.Thread(target=threading.Event().wait).start()",
}
ASKED = """
import asyncio, sys, threading
from spadework import Session, Settings
from spadework.apps.exit import LEAVING
from spadework.apps.outputs import Output
from spadework.apps.terminal import live_run as running
from spadework.graph.context import SessionContext
close = SessionContext.close
async def hanging(desk):
    await close(desk)
    {hangs}
SessionContext.close = hanging
LEAVING.alone = True
session = Session.start("What is the Quillon?", settings=Settings.load(minutes={minutes}))
sys.exit(running.run(session, Output()))
"""


@pytest.mark.timed
@pytest.mark.parametrize("hangs", thinned(HANGING.values(), 3), ids=HANGING)
def test_what_is_not_closed_at_the_deadline_is_dropped_with_the_process(
    notes: Path, hangs: str
) -> None:
    env = {"SPADEWORK_SEARCH": "library", "SPADEWORK_LIBRARY": str(notes)}
    code = ASKED.format(hangs=hangs, minutes=SECONDS / 60)
    began = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, **env},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    kill = threading.Timer(60, process.kill)
    kill.start()
    assert process.stdout is not None
    assert process.stdout.readline().startswith("# ")
    printed = time.monotonic()
    _, err = process.communicate()
    ended = time.monotonic()
    kill.cancel()
    assert process.returncode in (0, 3), err
    assert "Traceback" not in err
    # Where it took all its time only to start, it is left as soon as the report is printed.
    assert ended < max(began + SECONDS, printed) + 2
    assert not [p for p in psutil.process_iter() if p.ppid() == process.pid]


#: A program that is left while an MCP server that never says a word is connected to.
LEFT = """
import asyncio
from spadework.apps.exit import LEAVING
from spadework.tools.search.mcp_tool import McpSearch
from tests.tools.search import test_mcp

async def run():
    provider = McpSearch("structured", test_mcp.command("mute", "{mark}"))
    asking = asyncio.create_task(test_mcp.ask(provider))
    while not test_mcp.servers():
        await asyncio.sleep(0.01)
    LEAVING.begin(0, 3)
    await asking

asyncio.run(run())
"""


def test_what_would_outlive_the_process_is_ended_when_it_is_left():
    mark = uuid4().hex
    code = LEFT.format(mark=mark)
    process = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60)
    assert process.returncode == 3
    assert not [p for p in psutil.process_iter(["cmdline"]) if mark in (p.info["cmdline"] or ())]


def test_too_little_is_kept_of_nothing_until_enough_is_known(tmp_path: Path) -> None:
    assert reserve(tmp_path) == 2
    took(tmp_path, writing=0.1, closing=0.2)
    assert reserve(tmp_path) == 2
    for _ in range(5):
        took(tmp_path, writing=0.1, closing=0.4)
        took(tmp_path, leaving=0.3)
    assert reserve(tmp_path) == pytest.approx(1.25 * 0.8)


def test_more_is_kept_as_soon_as_runs_take_longer_but_not_for_one_accident(tmp_path: Path) -> None:
    for _ in range(10):
        took(tmp_path, writing=0.0, closing=0.4)
    took(tmp_path, writing=0.0, closing=9.0)
    assert reserve(tmp_path) == pytest.approx(0.5)
    took(tmp_path, writing=0.0, closing=3.0)
    assert reserve(tmp_path) == pytest.approx(1.25 * 3)
    for _ in range(20):
        took(tmp_path, writing=0.0, closing=90.0)
    assert reserve(tmp_path) == 10


@pytest.mark.parametrize("content", ["", "[]", "{", '{"closing": "x"}', '{"closing": [-1, null]}'])
def test_what_cannot_be_read_is_not_known(tmp_path: Path, content: str) -> None:
    (tmp_path / "endings.json").write_text(content)
    assert reserve(tmp_path) == 2
    took(tmp_path, closing=4.0)
    assert reserve(tmp_path) == 5


async def test_a_run_keeps_what_those_before_it_have_taken(notes: Path) -> None:
    settings = Settings.load(search="library", library=(notes,), minutes=2)
    for _ in range(6):
        took(settings.home, writing=1.0, closing=2.0, leaving=1.0)
    session = Session.start(QUESTION, settings=settings)
    before = session.budget.seconds_left() - session.budget.until_closing()
    await session.result()
    assert before == pytest.approx(2, abs=0.1)
    assert session.budget.seconds_left() - session.budget.until_closing() == pytest.approx(
        5, abs=0.1
    )
    assert reserve(settings.home) == pytest.approx(5)


def test_what_is_to_be_done_at_the_end_is_done_and_nothing_is_taken_apart():
    code = (
        "import atexit, sys\n"
        "from spadework.apps.exit import LEAVING\n"
        "class Kept:\n"
        "    def __del__(self):\n"
        "        print('taken apart', flush=True)\n"
        "sys.kept = Kept()\n"
        "with LEAVING.for_good():\n"
        "    atexit.register(print, 'done at the end')\n"
        "    print('done')\n"
        "    raise SystemExit(3)"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (process.returncode, process.stdout) == (3, "done\ndone at the end\n")
    assert process.stderr == ""

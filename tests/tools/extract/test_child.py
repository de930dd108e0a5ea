"""Reading in processes of their own: what goes wrong there stays there."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from typing import Any

import psutil
import pytest

from spadework.errors import FetchError, TooSlow, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.process import WORKERS, Process, read_apart, warm
from tests.tools.extract.files import docx, epub, xlsx
from tests.tools.extract.test_data import ATOM, MAIL, RSS
from tests.tools.extract.test_office import p
from tests.world.paper import pdf
from tests.world.processes import children
from tests.world.timing import eventually

URL = "https://example.com/file"
DUES = b"boat,dues\nsmall,14\n"
#: Takes half a minute.
SLOW = b"A *word* and `code` and more of it.\n\n" * 200_000
#: One row of so many cells takes gigabytes.
GREEDY = b"," * 150_000_000


async def dues() -> bool:
    found = await read_apart(DUES, media_type="text/csv", url=URL, seconds=20)
    return "| small | 14 |" in found.markdown


def workers(of: int | None = None) -> set[int]:
    """The processes that read documents for a process, not for one that it started."""
    return {
        child.pid
        for child in children("spadework.tools.extract.reader_program", of, all_of_them=False)
    }


class Busy:
    """The workers that have been reading since it was made: also an idle one has used the
    processor, for other documents.
    """

    def __init__(self, of: int | None = None) -> None:
        self._of = of
        self._before = {process: _used(process) for process in workers(of)}

    def now(self) -> set[int]:
        """Those that are alive and have worked for half a second since."""
        return {
            process
            for process in workers(self._of)
            if _used(process) - self._before.get(process, 0.0) > 0.5
        }


def _used(process: int) -> float:
    """Seconds of the processor."""
    try:
        return float(psutil.Process(process).cpu_times().user)
    except psutil.NoSuchProcess:
        return 0.0


@pytest.mark.parametrize(
    ("body", "media_type"),
    [
        (docx(p("A boat.")), ""),
        (xlsx({"A": '<row><c r="A1"><v>14</v></c></row>'}), ""),
        (epub(["<p>A boat pays 14 crowns.</p>"]), ""),
        (RSS.encode(), ""),
        (ATOM.encode(), ""),
        (MAIL, "message/rfc822"),
        (pdf("Dues\n\nA boat pays 14 crowns."), ""),
        (b"<p>A page \xe2\x82\xac</p>" * 50, "text/html"),
    ],
)
async def test_a_document_is_the_same_as_when_it_is_read_here(body, media_type):
    found = await read_apart(body, media_type=media_type, url=URL, charset="utf-8", seconds=20)
    assert found == read_document(body, media_type=media_type, url=URL, charset="utf-8")


@pytest.mark.parametrize(
    "body", [b"\x89PNG\r\n\x1a\n", b"PK\x03\x04 damaged", docx("<w:r/>" * 4_000_000)]
)
async def test_a_refusal_is_the_same_too(body):
    with pytest.raises(FetchError) as here:
        read_document(body, media_type="", url=URL)
    with pytest.raises(type(here.value), match=str(here.value)[:40]):
        await read_apart(body, media_type="", url=URL, seconds=20)


@pytest.mark.timed
async def test_a_reader_that_does_not_end_is_killed_at_the_deadline():
    started = time.monotonic()
    with pytest.raises(TooSlow, match=r"took longer than 0\.7 s"):
        await read_apart(SLOW, media_type="text/markdown", url=URL, seconds=0.7)
    assert time.monotonic() - started < 2
    assert await dues()
    busy = Busy()
    await asyncio.sleep(1)  # whatever goes on reading is seen by then
    assert not busy.now()


async def test_a_reader_that_takes_too_much_memory_is_stopped():
    with pytest.raises(Unreadable, match=r"more than 1 GB of memory|crashed"):
        await read_apart(GREEDY, media_type="text/csv", url=URL, seconds=60)
    assert await dues()


async def test_a_reader_that_is_killed_by_someone_else_is_replaced():
    assert await dues()
    busy = Busy()
    task = asyncio.create_task(read_apart(SLOW, media_type="text/markdown", url=URL, seconds=30))
    await eventually(busy.now)
    for process in workers():
        os.kill(process, signal.SIGKILL)
    with pytest.raises(Unreadable, match="crashed"):
        await task
    assert await asyncio.gather(*(dues() for _ in range(4))) == [True] * 4


async def test_an_idle_reader_that_has_died_costs_no_document():
    assert await dues()
    for process in workers():
        os.kill(process, signal.SIGKILL)
    await eventually(lambda: not workers())
    assert await dues()


async def test_what_is_cancelled_is_killed():
    assert await dues()
    busy = Busy()
    task = asyncio.create_task(read_apart(SLOW, media_type="text/markdown", url=URL, seconds=60))
    await eventually(busy.now)
    at_work = busy.now()
    assert at_work
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: not at_work & workers())
    assert await dues()


async def test_what_is_cancelled_as_its_answer_comes_leaves_no_process(
    monkeypatch: pytest.MonkeyPatch,
):
    loop, asked = asyncio.get_running_loop(), list[int]()

    def ask(self: Process, request: dict[str, Any], body: bytes) -> dict[str, Any]:
        reply = real(self, request, body)
        asked.append(self.start().pid)
        loop.call_soon_threadsafe(task.cancel)
        return reply

    real = Process.ask
    monkeypatch.setattr(Process, "ask", ask)
    task = asyncio.create_task(read_apart(DUES, media_type="text/csv", url=URL, seconds=20))
    with pytest.raises(asyncio.CancelledError):
        await task
    monkeypatch.undo()
    await eventually(lambda: not psutil.pid_exists(asked[0]))
    assert await dues()


async def test_many_documents_share_the_processes_and_wait_no_longer_than_their_deadline():
    assert all(await asyncio.gather(*(dues() for _ in range(12))))
    assert 1 <= len(workers()) <= WORKERS
    slow = [
        asyncio.create_task(read_apart(SLOW, media_type="text/markdown", url=URL, seconds=2))
        for _ in range(WORKERS)
    ]
    await asyncio.sleep(0)
    with pytest.raises(TooSlow):
        await read_apart(DUES, media_type="text/csv", url=URL, seconds=0.5)
    assert await dues()  # as soon as one of them is killed
    assert all(
        isinstance(outcome, TooSlow)
        for outcome in await asyncio.gather(*slow, return_exceptions=True)
    )


def test_processes_outlive_an_event_loop():
    assert asyncio.run(dues())
    first = workers()
    assert asyncio.run(dues())
    assert workers() == first


async def test_a_process_is_started_before_it_is_needed():
    warm()
    await eventually(workers)
    assert await dues()
    # One that was killed before takes a moment to be gone.
    await eventually(lambda: len(workers()) <= WORKERS)


PROGRAM = """
import asyncio, sys
from spadework.tools.extract.process import read_apart
async def main():
    await read_apart(b"a,b", media_type="text/csv", url="https://example.com/a", seconds=20)
    if len(sys.argv) > 1:
        await read_apart(b"A *word* and `code`.\\n\\n" * 200_000, media_type="text/markdown", url="https://example.com/a", seconds=100)
asyncio.run(main())
"""  # noqa: E501


@pytest.mark.process
def test_nothing_is_left_and_nothing_is_said_when_the_program_ends(tmp_path):
    (tmp_path / "lxml.py").write_text("raise SystemExit('a module of the folder, not ours')")
    command = [sys.executable, "-P", "-X", "dev", "-W", "error", "-c", PROGRAM]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is the time limit that ends them")
async def test_a_process_in_the_middle_of_a_document_dies_with_its_parent():
    with subprocess.Popen([sys.executable, "-c", PROGRAM, "slow"]) as program:  # noqa: ASYNC220 - it blocks for a moment only
        try:
            await eventually(Busy(program.pid).now, seconds=30)
            left = workers(program.pid)
        finally:
            program.kill()
    await eventually(lambda: not any(psutil.pid_exists(process) for process in left), seconds=3)

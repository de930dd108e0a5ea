"""Files are written whatever else takes threads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from spadework.agents.llm.limits import Lessons
from spadework.tools.extract.extracted import Link
from spadework.tools.ranking.selection import LinkStore
from spadework.tools.stores.disk import THREADS, on_disk
from spadework.tools.text.page_text import PageStore

pytestmark = pytest.mark.process


@pytest.fixture
async def _no_thread_left() -> AsyncIterator[None]:
    """All threads of the event loop are taken, as by a library that blocks."""
    let_go = threading.Event()
    taken = [asyncio.ensure_future(asyncio.to_thread(let_go.wait, 60)) for _ in range(40)]
    await asyncio.sleep(0)
    yield
    let_go.set()
    await asyncio.gather(*taken)


async def test_what_is_returned_or_raised_comes_back(tmp_path: Path):
    assert await on_disk((tmp_path / "file").write_text, "text", encoding="utf-8") == 4
    with pytest.raises(FileNotFoundError):
        await on_disk((tmp_path / "none").read_text)


@pytest.mark.usefixtures("_no_thread_left")
async def test_the_files_of_a_session_are_written_where_no_thread_is_left(tmp_path: Path):
    async with asyncio.timeout(20):
        digest, text = await PageStore(tmp_path / "pages").put("A lighthouse.")
        assert await PageStore(tmp_path / "pages").get(digest) == text
        links = (Link(url="https://example.org/", text="An example"),)
        await LinkStore(tmp_path / "links").put("https://example.com/", links)
        assert await LinkStore(tmp_path / "links").of("https://example.com/") == links
        lessons = Lessons(tmp_path, "m")
        await lessons.load()
        lessons.learn(context=8_000)
        await lessons.save()
        again = Lessons(tmp_path, "m")
        await again.load()
        assert again.known.context == 8_000


def test_what_was_begun_is_written_before_the_process_ends(tmp_path: Path):
    code = (
        "import asyncio, sys, threading\nfrom pathlib import Path\n"
        "from spadework.tools.stores.disk import on_disk\n"
        "given_up = threading.Event()\n"
        "def write():\n"
        "    given_up.wait(60)\n"
        "    Path(sys.argv[1]).write_text('whole')\n"
        "async def main():\n"
        "    try:\n"
        "        async with asyncio.timeout(0.1):\n"
        "            await on_disk(write)\n"
        "    finally:\n"
        "        given_up.set()\n"
        "try:\n"
        "    asyncio.run(main())\n"
        "except TimeoutError:\n"
        "    print('left')"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "file"], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("left\n", "")
    assert (tmp_path / "file").read_text() == "whole"


async def test_what_waits_for_a_thread_is_done_though_its_caller_has_gone(tmp_path: Path):
    let_go = threading.Event()
    others = [asyncio.ensure_future(on_disk(let_go.wait, 60)) for _ in range(THREADS)]
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(on_disk((tmp_path / "file").write_text, "text"))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    let_go.set()
    await asyncio.gather(*others)
    await on_disk(lambda: None)
    await asyncio.gather(*(on_disk(lambda: None) for _ in range(THREADS)))
    assert (tmp_path / "file").read_text() == "text"

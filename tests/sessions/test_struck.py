"""A run that is struck at any moment, even twice, leaves nothing behind that would keep its process
from ending.
"""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from spadework.sessions.session import Session
from spadework.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(
        "# Quillon\n\nQuillon is a wind-up radio that plays for 45 minutes after one winding.\n"
    )
    return Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)


def threads() -> set[threading.Thread]:
    """Threads that the interpreter would wait for at its end, but for those of the loop's own pool
    and of that for files, which it ends itself.
    """
    return {
        thread
        for thread in threading.enumerate()
        if not thread.daemon and not thread.name.startswith(("asyncio_", "files_"))
    }


async def test_no_thread_is_left_whenever_it_is_struck(settings: Settings) -> None:
    await Session.start("What is the Quillon?", settings=settings).result()
    before = threads()
    for milliseconds in range(0, 40, 2):
        running = asyncio.create_task(
            Session.start("What is the Quillon?", settings=settings).result()
        )
        await asyncio.sleep(milliseconds / 1000)
        # The second strike is that of an event loop that ends: it cancels all tasks, also those
        # that are cleaning up.
        for task in (running, *(asyncio.all_tasks() - {asyncio.current_task()})):
            task.cancel()
        await asyncio.sleep(0.001)
        for task in asyncio.all_tasks() - {asyncio.current_task()}:
            task.cancel()
        await asyncio.gather(running, return_exceptions=True)
    for thread in threads() - before:
        await asyncio.to_thread(thread.join, 10)
    assert not threads() - before

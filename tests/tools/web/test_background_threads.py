"""Work beside the event loop: its outcome comes back, and nothing waits for it that need not."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

import pytest

from spadework.tools.web.background_threads import aside

LEAVE_AT_ONCE = """
import asyncio, time
from spadework.tools.web.background_threads import aside
async def main():
    async with asyncio.timeout(0.1):
        await aside(time.sleep, 60)
try:
    asyncio.run(main())
except TimeoutError:
    print("left")
"""


async def test_what_is_returned_or_raised_comes_back():
    assert await aside(int, "ff", base=16) == 255
    with pytest.raises(ValueError, match="invalid literal"):
        await aside(int, "x")


async def test_the_event_loop_goes_on_meanwhile():
    done = threading.Event()
    waiting = asyncio.create_task(aside(done.wait, 10))
    await asyncio.sleep(0)
    done.set()
    assert await waiting is True


async def test_a_cancelled_caller_does_not_wait():
    done = threading.Event()
    waiting = asyncio.create_task(aside(done.wait, 10))
    await asyncio.sleep(0.01)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    done.set()


@pytest.mark.process
@pytest.mark.timed
def test_a_process_ends_while_its_work_goes_on():
    started = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", LEAVE_AT_ONCE],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert ended.stdout == "left\n"
    assert time.monotonic() - started < 10

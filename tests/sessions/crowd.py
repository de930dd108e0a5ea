"""Many sessions in a process of its own, at once or one after the other, with few descriptors: what
came of them, and what they took.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any

import psutil

from spadework import Settings, research
from spadework.sessions.admission import open_files
from spadework.values import Result

#: Of how many runs the memory is taken together: one alone says little.
SPAN = 25


def ran(how: str, sessions: int, descriptors: int, env: Mapping[str, str]) -> dict[str, Any]:
    """What `sessions` gave and took, `how` "at_once" or "in_a_row", in a process that may hold so
    many descriptors. Raises AssertionError with what it said where it broke.
    """
    code = f"from tests.sessions import crowd; crowd.{how}({sessions}, {descriptors})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def at_once(sessions: int, descriptors: int) -> None:
    """Print the seconds from the common start to the end of each, the sources of each, and the most
    descriptors and megabytes that the process and its children took.
    """
    _limit(descriptors)
    took = _Took()

    async def one(n: int) -> tuple[Result, float]:
        result = await research(_question(n), Settings.load())
        return result, time.monotonic() - began

    async def everyone() -> list[tuple[Result, float]]:
        return await asyncio.gather(*(one(n) for n in range(sessions)))

    began = time.monotonic()
    ended = asyncio.run(everyone())
    seconds = [each for _, each in ended]
    sys.stdout.write(
        json.dumps(
            {
                "statuses": sorted({result.status for result, _ in ended}),
                "sources": min(len(result.sources) for result, _ in ended),
                "citations": min(len(result.citations) for result, _ in ended),
                "slowest": max(seconds),
                "longest": max(result.timings["total"] for result, _ in ended),
                "median": statistics.median(seconds),
                "descriptors": took.descriptors,
                "mb": took.mb,
            }
        )
    )


def in_a_row(sessions: int, descriptors: int) -> None:
    """Print the megabytes and descriptors of the process after every SPAN runs."""
    _limit(descriptors)
    own, taken = psutil.Process(), list[tuple[float, int]]()

    async def everyone() -> None:
        for n in range(sessions):
            result = await research(_question(n), Settings.load())
            assert result.citations
            if (n + 1) % SPAN == 0:
                gc.collect()
                taken.append((own.memory_info().rss / 1e6, open_files()))

    asyncio.run(everyone())
    sys.stdout.write(json.dumps(taken))


def _question(n: int) -> str:
    return f"How many passengers does ferry {n} of Aldermere carry?"


def _limit(descriptors: int) -> None:
    import resource  # Windows has none

    resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))


class _Took(threading.Thread):
    """Looks ten times a second what the process takes, with its children."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.descriptors, self.mb = 0, 0.0
        self._own = psutil.Process()
        self.start()

    def run(self) -> None:
        while True:
            self.descriptors = max(self.descriptors, open_files())
            self.mb = max(self.mb, sum(map(_rss, (self._own, *self._own.children()))) / 1e6)
            time.sleep(0.1)


def _rss(process: psutil.Process) -> int:
    try:
        return process.memory_info().rss
    except psutil.Error:  # it has just ended
        return 0

"""Has a library's index built by a process of its own, and waits for it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from dataclasses import asdict

from spadework.errors import SettingsError
from spadework.tools.library.plan import Plan
from spadework.tools.web.process_groups import kill_group

#: A build that takes longer is given up.
BUILD_SECONDS = 1_800
#: Progress is told at every tenth, and whenever so much time has passed: the largest packages come
#: first, and a tenth of them is half of the work.
STEP, PAUSE_SECONDS = 0.1, 5.0


async def build(plan: Plan, progress: Callable[[str], None] | None) -> None:
    """Build a plan's folder, in a process that ends with this call. Raises SettingsError."""
    # -P keeps the current folder out of the module path; what this process can import, the other
    # can too.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "spadework.tools.library.build"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=DEVNULL,
        env=environment,
        start_new_session=True,
    )
    try:
        async with asyncio.timeout(BUILD_SECONDS):
            await _attend(process, plan, progress)
    except TimeoutError:
        raise SettingsError(
            f"Building the library's index took more than {BUILD_SECONDS} seconds.",
            hint="Name fewer folders.",
        ) from None
    finally:
        if process.returncode != 0:  # it still runs, or was killed, and its workers run
            kill_group(process)
            await process.wait()


async def _attend(process: Process, plan: Plan, progress: Callable[[str], None] | None) -> None:
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(asdict(plan), default=str).encode())
    process.stdin.close()
    error = "The library's index could not be built: its process was ended."
    telling = _Telling(_subject(plan), progress or (lambda text: None))
    async for line in process.stdout:
        said = json.loads(line)
        error = said.get("error", error)
        if "waits" in said:
            telling.waits()
        elif "done" in said:
            telling.does(said["done"], said["of"])
    await process.wait()
    if process.returncode:
        raise SettingsError(error)


class _Telling:
    """Tells who waits how far a build is, but not every step of it."""

    def __init__(self, subject: str, progress: Callable[[str], None]) -> None:
        self._subject = subject
        self._progress = progress
        self._share, self._at = -1.0, 0.0

    def waits(self) -> None:
        self._progress(
            f"Waiting for another process that is building the index of {self._subject}."
        )

    def does(self, done: int, of: int) -> None:
        share, now = done / max(1, of), time.monotonic()
        steps = share - self._share >= STEP or now - self._at >= PAUSE_SECONDS or share == 1
        if share > self._share and steps:
            self._share, self._at = share, now
            self._progress(f"Building the index of {self._subject}: {done} of {of} done.")


def _subject(plan: Plan) -> str:
    return "the library" if plan.paths else "the installed documentation"

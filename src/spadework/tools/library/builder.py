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
            await _attend(process, plan, progress or (lambda text: None))
    except TimeoutError:
        raise SettingsError(
            f"Building the library's index took more than {BUILD_SECONDS} seconds.",
            hint="Name fewer folders.",
        ) from None
    finally:
        if process.returncode != 0:  # it still runs, or was killed, and its workers run
            kill_group(process)
            await process.wait()


async def _attend(process: Process, plan: Plan, progress: Callable[[str], None]) -> None:
    """Hand the plan over, and tell how far the build is, but not every step of it."""
    assert process.stdin and process.stdout
    process.stdin.write(json.dumps(asdict(plan), default=str).encode())
    process.stdin.close()
    error = "The library's index could not be built: its process was ended."
    subject = "the library" if plan.paths else "the installed documentation"
    told, at = -1.0, 0.0
    async for line in process.stdout:
        said = json.loads(line)
        error = said.get("error", error)
        if "waits" in said:
            progress(f"Waiting for another process that is building the index of {subject}.")
        elif "done" in said:
            done, of, now = said["done"], said["of"], time.monotonic()
            share = done / max(1, of)
            if share > told and (share - told >= STEP or now - at >= PAUSE_SECONDS or share == 1):
                told, at = share, now
                progress(f"Building the index of {subject}: {done} of {of} done.")
    await process.wait()
    if process.returncode:
        raise SettingsError(error)

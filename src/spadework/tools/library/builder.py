"""Has a library's index built by a process of its own, and waits for it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable
from dataclasses import asdict

from spadework.errors import SettingsError
from spadework.tools.library.plan import Plan

#: A build that takes longer is given up.
BUILD_SECONDS = 1_800
_STEP = 0.1


async def build(plan: Plan, progress: Callable[[str], None] | None) -> None:
    """Build the folder of a plan. Raises SettingsError when it cannot be; ends the process when
    cancelled.
    """
    # -P keeps the current folder out of the module path; what this process can import, the other
    # can too.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "spadework.tools.library.build"),
        stdin=PIPE,
        stdout=PIPE,
        stderr=PIPE,
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
        await _end(process)


async def _attend(process: Process, plan: Plan, progress: Callable[[str], None] | None) -> None:
    assert process.stdin and process.stdout and process.stderr
    errors = asyncio.create_task(process.stderr.read())
    try:
        process.stdin.write(json.dumps(asdict(plan), default=str).encode())
        process.stdin.close()
        error = ""
        told = -1.0
        async for line in process.stdout:
            said = json.loads(line)
            error = said.get("error", error)
            if progress and said.get("waits"):
                progress(
                    f"Waiting for another process that is building the index of {_subject(plan)}."
                )
            share = said["done"] / max(1, said["of"]) if "done" in said else told
            if progress and (share - told >= _STEP or share == 1 > told):
                told = share
                progress(
                    f"Building the index of {_subject(plan)}: {said['done']} of {said['of']} done."
                )
        await process.wait()
        if process.returncode:
            last = (await errors).decode(errors="replace").strip().rpartition("\n")[2]
            why = last[:200] or "its process was ended"
            raise SettingsError(error or f"The library's index could not be built: {why}.")
    finally:
        errors.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await errors


def _subject(plan: Plan) -> str:
    return "the library" if plan.paths else "the installed documentation"


async def _end(process: Process) -> None:
    """End the process and its workers, if they still run."""
    if process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        await process.wait()

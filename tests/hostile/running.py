"""One hostile run: spadework as a process of its own, watched until nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.hostile.attack import Attack
from tests.hostile.stage import QUESTION, Stage, staged
from tests.hostile.strikes import prepare, strike

ROOT = Path(__file__).resolve().parents[2]
#: A run that is so many seconds late will not end at all, and is ended.
NEVER = 60.0
#: So many seconds may pass until what a process has started has ended after it.
AFTERWARDS = 5.0
#: Of whoever runs this: their keys and settings are no part of an attack.
_FOREIGN = ("OPENAI_", "SPADEWORK_", "LANG", "SEARXNG_", "SERP", "TAVILY_", "BRAVE_", "QDRANT_")


@dataclass(frozen=True)
class Ran:
    """What became of a run. `code` is None for one that had to be ended, below 0 where a signal
    ended it.

    `took` and `printed` (its last words on standard output or, where it said nothing there, on
    standard error): seconds after it began. `begun`: it made the folder of its session, which holds
    the `report`, "" for none. `left` is what was still
    there afterwards; `intruded` counts visits to a server that nobody may visit; `did`, by service,
    what was done.
    """

    code: int | None
    took: float
    printed: float
    out: str
    err: str
    begun: bool
    report: str
    left: tuple[str, ...]
    intruded: int
    did: dict[str, dict[str, int]]


async def ran(attack: Attack, folder: Path) -> Ran:
    """Let an attack happen, in an empty folder, which then holds `home`, `tmp`, `out`, `err`."""
    for name in ("tmp", "servers"):
        (folder / name).mkdir()
    prepare(attack, folder / "home")
    async with staged(attack, folder / "servers") as stage:
        return await _ran(attack, folder, stage)


async def _ran(attack: Attack, folder: Path, stage: Stage) -> Ran:
    env = {k: v for k, v in os.environ.items() if not k.startswith(_FOREIGN)}
    env |= _own(folder) | {"SPADEWORK_HOME": str(folder / "home")}
    began = time.time()
    process = await _started(attack, folder, env | stage.env)
    striking = asyncio.create_task(strike(attack, process.pid, folder / "home"))
    with suppress(TimeoutError):
        await asyncio.wait_for(process.wait(), attack.seconds + NEVER)
    took = time.time() - began
    striking.cancel()
    with suppress(asyncio.CancelledError):
        await striking
    code = process.returncode
    left = await _left(folder, killed=attack.signals in ("killed", "hung up"))
    said = next((f for f in (folder / "out", folder / "err") if f.stat().st_size), folder / "err")
    return Ran(
        *(code, took, said.stat().st_mtime - began),
        *((folder / name).read_text("utf-8", "replace") for name in ("out", "err")),
        *(_begun(folder / "home"), _report(folder / "home"), left, stage.intruded),
        {name: dict(did) for name, did in stage.did.items()},
    )


async def _started(attack: Attack, folder: Path, env: dict[str, str]) -> asyncio.subprocess.Process:
    """The process, whose output goes to files, or where nobody reads it."""
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        unread, written = os.pipe()
        try:
            return await asyncio.create_subprocess_exec(
                *_command(attack.door, folder),
                env=env,
                cwd=ROOT,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=written if attack.door == "closed pipe" else out,
                stderr=err,
                start_new_session=True,
            )
        finally:
            os.close(unread)
            os.close(written)


def _command(door: str, folder: Path) -> list[str]:
    if door == "code":
        return [sys.executable, "-m", "tests.hostile.within", QUESTION]
    options = {"json": ["--json"], "events": ["--events"], "file": ["-o", str(folder / "out.md")]}
    return [sys.executable, "-m", "spadework", "ask", QUESTION, *options.get(door, ())]


def _begun(home: Path) -> bool:
    return any(home.glob("sessions/*"))


def _report(home: Path) -> str:
    """The report as it stands in the folder of the session."""
    found = sorted(home.glob("sessions/*/research_report_*.md"))
    return found[-1].read_text("utf-8") if found else ""


async def _left(folder: Path, *, killed: bool) -> tuple[str, ...]:
    """The processes that do not end, which are then ended, and the files that were to go away; one
    that is killed cannot see to its files.
    """
    until = time.monotonic() + AFTERWARDS
    while (alive := _alive(folder)) and time.monotonic() < until:  # noqa: ASYNC110 (nobody tells)
        await asyncio.sleep(0.1)
    told = [f"process {' '.join(each.cmdline())[:200]}" for each in alive]
    for each in alive:
        each.kill()
    files = () if killed else (*(folder / "tmp").rglob("*"), *(folder / "home").rglob("*.tmp"))
    return (*told, *(f"file {file.relative_to(folder)}" for file in files))


def _own(folder: Path) -> dict[str, str]:
    """Variables by which a process of this run is known, of which each gets one at least."""
    return {"HOME": str(folder), "TMPDIR": str(folder / "tmp")}


def _alive(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            dead = process.status() == psutil.STATUS_ZOMBIE
            if not dead and process.environ().items() & _own(folder).items():
                found.append(process)
    return found

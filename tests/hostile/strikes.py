"""What happens to a run from its own machine: signals, and a disk that fails under it."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import signal
from contextlib import suppress
from pathlib import Path

from tests.hostile import place
from tests.hostile.attack import SIGNALS, Attack

#: The disk of an attack, where it is to fail, and how long one is full that is full for a while.
DISK_BYTES, WHILE_SECONDS = 64_000_000, 2.0


def prepare(attack: Attack, home: Path) -> None:
    """Give the run a disk of its own, where that is to fail."""
    home.mkdir()
    if attack.disk:
        place.mount("-t", "tmpfs", "-o", f"size={DISK_BYTES}", "none", home)


async def strike(attack: Attack, pid: int, home: Path) -> None:
    """Strike at the run's process when its time has come."""
    if not (attack.disk or attack.signals):
        return
    await asyncio.sleep(attack.when * attack.seconds)
    for name, seconds in SIGNALS.get(attack.signals, ()):
        await asyncio.sleep(seconds)
        with suppress(ProcessLookupError):
            os.kill(pid, signal.Signals[name])
    match attack.disk:
        case "full":
            _fill(home / "filler")
        case "full for a while":
            _fill(home / "filler")
            await asyncio.sleep(WHILE_SECONDS)
            (home / "filler").unlink()
        case "read-only":
            # What is open may still be written to, nothing else: the disk itself would be "busy".
            place.mount("--bind", home, home)
            place.mount("-o", "remount,bind,ro", home)
        case "gone":
            shutil.rmtree(home / "sessions", ignore_errors=True)


def _fill(file: Path) -> None:
    """Write until nothing more can be written."""
    with file.open("wb", buffering=0) as filler:
        for size in (1_000_000, 4_096, 1):
            try:
                while filler.write(b"\0" * size):
                    pass
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

"""Stopping programs that were started in a process group of their own (`start_new_session`)."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import subprocess
    from asyncio.subprocess import Process

    import psutil


def kill_group(process: subprocess.Popen[Any] | Process | psutil.Process) -> None:
    """Kill a process and its group, or it alone without groups. A process that has ended is no
    error.
    """
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()

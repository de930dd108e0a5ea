"""The end of programs that began a group of their own (`start_new_session`)."""

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
    """Kill a process and all it has started (alone without groups); one gone is no error."""
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()

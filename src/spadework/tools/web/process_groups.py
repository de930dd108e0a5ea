"""The end of programs that were started as the first of a group of their own
(`start_new_session`).
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import Protocol


class Started(Protocol):
    """A process of `subprocess`, of asyncio or of psutil."""

    @property
    def pid(self) -> int:
        """Its number."""
        ...

    def kill(self) -> None:
        """Kill it alone."""
        ...


def kill_group(process: Started) -> None:
    """Kill a process that has not been waited for, and all that it has started; where the system
    knows no groups, it alone. One that is gone already is no error.
    """
    with suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()

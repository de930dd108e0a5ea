"""A process that reads documents: started when needed, asked one at a time, killable."""

from __future__ import annotations

import os
import subprocess
import sys
from threading import Lock
from typing import Any

from spadework.tools.extract.frames import join_reply, receive, send
from spadework.tools.web.process_groups import kill_group

#: -P: a module in the folder where spadework was called must not be taken for one of ours.
_PROGRAM = ("-P", "-m", "spadework.tools.extract.reader_program")
#: All that the process gets to know of our environment; keys are not for it.
_ENVIRONMENT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT",
    "TESSDATA_PREFIX", "TMPDIR", "TEMP",
)  # fmt: skip


class Ended(Exception):
    """The process has ended instead of answering."""


class Process:
    """One process. All but `kill` may wait and belongs in a thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._killed = False
        self._lock = Lock()

    @property
    def usable(self) -> bool:
        """Can it be asked something more?"""
        return not self._killed and (self._process is None or self._process.poll() is None)

    def start(self) -> subprocess.Popen[bytes]:
        """Start it, if it does not run yet."""
        with self._lock:
            if self._process is None:
                own = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
                pipe = subprocess.PIPE
                self._process = subprocess.Popen(
                    [sys.executable, *_PROGRAM],
                    stdin=pipe,
                    stdout=pipe,
                    stderr=subprocess.DEVNULL,
                    env=own,
                    start_new_session=True,
                )
            if self._killed:
                _kill(self._process)
            return self._process

    def ask(self, request: dict[str, Any], body: bytes) -> dict[str, Any]:
        """The answer to a request. Raises Ended when the process ends instead, also when killed."""
        process = self.start()
        try:
            if process.stdin is None or process.stdout is None:
                raise EOFError
            send(process.stdin, request, body)
            reply = join_reply(*receive(process.stdout))
        except (OSError, EOFError, ValueError):
            # A pipe that somebody else has closed is a ValueError.
            self.end()
            raise Ended from None
        if reply["last"]:
            self.end()
        return reply

    def kill(self) -> None:
        """Kill it at once, or as soon as it is started; what waits for its answer then ends it."""
        self._killed = True
        if self._process is not None:
            _kill(self._process)

    def end(self) -> None:
        """Kill it and leave nothing of it behind. Two threads may do so at once."""
        self.kill()
        with self._lock:
            process = self._process
        if process is None:
            return
        _kill(process)
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except (OSError, ValueError):
                # What was written last has no reader any more; somebody else has closed it.
                continue
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process, and the programs that it has started, which are of its group."""
    if process.returncode is None:  # its number may be that of another one by now
        kill_group(process)

"""aegra, a server of LangGraph's protocol, over the graphs of langgraph.json: an environment for
it, and its processes on one PostgreSQL and one Redis.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Self

import httpx

from tests.release.environment import Environment
from tests.release.pythons import python
from tests.release.wheel import ROOT, said

#: It wants Python 3.12 or newer.
VERSIONS = ("3.13", "3.12", "3.14")
#: The Python of an environment that has it and spadework, "" to make one.
MADE = os.environ.get("SPADEWORK_TEST_AEGRA", "")
#: Longest wait for a process to answer or to end, in seconds.
PATIENCE = 60.0
#: A process that is gone is missed soon: it renews its lease every second.
_SOON = {
    "LEASE_DURATION_SECONDS": "4",
    "HEARTBEAT_INTERVAL_SECONDS": "1",
    "REAPER_INTERVAL_SECONDS": "1",
}


def interpreter() -> str:
    """A Python that can run it, "" where there is none."""
    return next(filter(None, map(python, VERSIONS)), "")


def environment(folder: Path) -> Path:
    """The folder of the programs of an environment with aegra and spadework."""
    if MADE:
        return Path(MADE).parent
    said(interpreter(), "-m", "venv", str(folder))
    made = Environment(folder)
    made.install("aegra-api", str(ROOT))
    return made.program("python").parent


class Redis:
    """A Redis server that keeps nothing."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        command = ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", ""]
        self.process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL)
        _wait_for(lambda: socket.create_connection(("127.0.0.1", self.port), 1).close())

    @staticmethod
    def installed() -> bool:
        """Whether there is one."""
        return bool(shutil.which("redis-server"))

    def stop(self) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait(PATIENCE)


class Aegra:
    """One process, which writes what it has to say to `log`."""

    def __init__(self, programs: Path, env: Mapping[str, str], log: Path) -> None:
        port = free_port()
        self.url, self.log = f"http://127.0.0.1:{port}", log
        with log.open("w") as said_to:
            # Not `aegra serve`, whose end does not reach the server that it starts.
            self.process = subprocess.Popen(
                [str(programs / "uvicorn"), "aegra_api.main:app", "--port", str(port)],
                cwd=ROOT,
                env={**env, **_SOON, "PATH": f"{programs}:{os.environ['PATH']}"},
                stdout=said_to,
                stderr=subprocess.STDOUT,
            )
        try:
            _wait_for(lambda: httpx.get(f"{self.url}/health", timeout=5).raise_for_status())
        except (OSError, httpx.HTTPError):
            self.stop(signal.SIGKILL)
            raise AssertionError(log.read_text()[-4000:]) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)

    def stop(self, how: signal.Signals) -> None:
        """Stop it."""
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(PATIENCE)


def free_port() -> int:
    """A port of loopback that nobody has."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def _wait_for(answers: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        try:
            answers()
        except (OSError, httpx.HTTPError):
            if time.monotonic() > until:
                raise
            time.sleep(0.1)
        else:
            return

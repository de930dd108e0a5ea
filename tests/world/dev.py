"""`langgraph dev` over the graphs of langgraph.json, as a newcomer would start it."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parents[2]
START_SECONDS = 60


@contextlib.contextmanager
def serving(env: Mapping[str, str], log: Path) -> Iterator[str]:
    """The address of a server with this environment, which writes what it has to say to `log`."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = f"{Path(sys.executable).parent}:{env['PATH']}"
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload"]
    with (
        log.open("w") as said,
        subprocess.Popen(
            [*command, "--host", "127.0.0.1", "--port", str(port)],
            cwd=ROOT,
            env={**env, "LANGGRAPH_CLI_NO_ANALYTICS": "1", "PATH": path},
            stdout=said,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/ok", process, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def _wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(url, timeout=2).status_code == 200:
                return
        except httpx.HTTPError:
            time.sleep(0.2)
    raise AssertionError(f"the server did not start:\n{log.read_text()[-2000:]}")

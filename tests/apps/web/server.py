"""`spadework serve` as a process of its own, which a test may stop and start again."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx

#: Longest wait for the server to say where it is, in seconds.
PATIENCE = 40.0


class Server:
    """The server of one home folder. `url` has no slash at its end; `token` is "" where none is
    asked.
    """

    def __init__(
        self, env: dict[str, str], home: Path, *options: str, set_home: bool = True
    ) -> None:
        self.home = home
        self._env = {**os.environ, **env}
        if set_home:
            self._env["SPADEWORK_HOME"] = str(home)
        self._options = options
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start it, on the port it had before."""
        command = [
            sys.executable,
            "-X",
            "faulthandler",
            "-m",
            "spadework",
            "serve",
            "--port",
            str(self.port),
            *self._options,
        ]
        self._log = self.home.with_suffix(".log")
        with self._log.open("w") as log:
            self.process = subprocess.Popen(command, env=self._env, stderr=log)
        said = self._said()
        self.url, self.port = f"http://127.0.0.1:{said[2]}", int(said[2])
        self.token = said[3] or ""

    def stop(self, how: signal.Signals = signal.SIGINT) -> int:
        """Stop it; its exit code."""
        self.process.send_signal(how)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            # It says where it hangs.
            self.process.send_signal(signal.SIGABRT)
            self.process.wait(PATIENCE)
            raise AssertionError(f"the server did not stop:\n{self.log()}") from None

    def log(self) -> str:
        """What it has written."""
        return self._log.read_text()

    def client(self) -> httpx.Client:
        """A client without a browser's cookies."""
        return httpx.Client(base_url=self.url, timeout=20)

    def _said(self) -> re.Match[str]:
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and self.process.poll() is None:
            if found := re.search(
                r"spadework is running at http://(.*):(\d+)/(?:\?token=(\S+))?", self.log()
            ):
                return found
            time.sleep(0.05)
        self.process.kill()
        self.process.wait()
        raise AssertionError(f"the server did not start:\n{self.log()}")

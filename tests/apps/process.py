"""spadework as a user starts it from a program: a process with pipes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


class Terminal:
    """Runs spadework in a process, with an environment of the test's."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self.env = {**os.environ, **env}
        self.folder = folder

    def start(self, *arguments: str, stdin: int | None = subprocess.DEVNULL) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "spadework", *arguments]
        return subprocess.Popen(
            command, env=self.env, cwd=self.folder, text=True, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    def run(self, *arguments: str, seconds: float = 60, piped: str | None = None) -> tuple[int, str, str]:
        with self.start(*arguments, stdin=subprocess.DEVNULL if piped is None else subprocess.PIPE) as process:
            try:
                out, err = process.communicate(piped, timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return process.returncode, out, err

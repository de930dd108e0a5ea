"""spadework as a user starts it: in a process with pipes, or the command alone in this process,
which costs a second less.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import psutil

from spadework.apps.cli import main


class Terminal:
    """Runs spadework in a process, with an environment of the test's."""

    def __init__(self, env: dict[str, str], folder: Path) -> None:
        self.env = {**os.environ, **env}
        self.folder = folder

    def start(
        self, *arguments: str, stdin: int | None = subprocess.DEVNULL
    ) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "spadework", *arguments]
        return subprocess.Popen(
            command,
            env=self.env,
            cwd=self.folder,
            text=True,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def piped(self, text: str, *arguments: str, seconds: float = 60) -> tuple[int, str, str]:
        """Exit code, output and messages of a process that is given a text on its standard
        input.
        """
        with self.start(*arguments, stdin=subprocess.PIPE) as process:
            try:
                out, err = process.communicate(text, timeout=seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        return process.returncode, out, err

    def run(self, *arguments: str) -> tuple[int, str, str]:
        """Exit code, output and messages of the command as the console script calls it."""
        written = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2)]
        with ExitStack() as stack:
            stack.enter_context(patch.dict(os.environ, self.env, clear=True))
            stack.enter_context(patch.object(sys, "argv", ["spadework", *arguments]))
            stack.enter_context(patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO())))
            stack.enter_context(contextlib.chdir(self.folder))
            stack.enter_context(contextlib.redirect_stdout(written[0]))
            stack.enter_context(contextlib.redirect_stderr(written[1]))
            # The clock of a run starts with its process, which is not that of the tests.
            stack.enter_context(patch.object(psutil.Process, "create_time", _now))
            code = _exit_code()
        for stream in written:
            stream.flush()
        out, err = (stream.buffer.getvalue().decode() for stream in written)  # type: ignore[attr-defined]
        return code, out, err


def _now(_: psutil.Process) -> float:
    return time.time()


def _exit_code() -> int:
    try:
        main()
    except SystemExit as left:
        return int(left.code or 0)
    return 0

"""spadework as a user sees it: a process in a terminal of its own, what stands on its screen, and
keys to press.
"""

from __future__ import annotations

import fcntl
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path

import pyte

CTRL_C, CTRL_D, TAB, ENTER = "\x03", "\x04", "\t", "\r"

#: The process makes the terminal its own, as a shell does for what it starts, and becomes
#: spadework.
_BEGIN = (
    "import os, sys; os.close(os.open(os.ttyname(0), os.O_RDWR)); os.execv(sys.executable,"
    " [sys.executable, *sys.argv[1:]])"
)


class _Screen(pyte.HistoryScreen):
    """A screen that answers where its cursor is."""

    def __init__(self, columns: int, rows: int, master: int) -> None:
        super().__init__(columns, rows, history=2_000, ratio=0.5)
        self._master = master

    def write_process_input(self, data: str) -> None:
        os.write(self._master, data.encode())


class Tty:
    """A process in a terminal of 80×24, or the size that is asked for. Use it as a context."""

    def __init__(
        self, env: dict[str, str], folder: Path, *arguments: str, columns: int = 80, rows: int = 24
    ) -> None:
        self._master, self._slave = os.openpty()
        self._screen = _Screen(columns, rows, self._master)
        self._stream = pyte.ByteStream(self._screen)
        self.raw = b""
        self._size(columns, rows)
        plain = {
            name: value
            for name, value in os.environ.items()
            if name not in ("NO_COLOR", "COLUMNS", "LINES")
        }
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BEGIN, "-m", "spadework", *arguments],
            **{"stdin": self._slave, "stdout": self._slave, "stderr": self._slave},
            env={**plain, "TERM": "xterm-256color", "LANG": "C.UTF-8", **env},
            cwd=folder,
            start_new_session=True,
        )

    def __enter__(self) -> Tty:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._slave)
        os.close(self._master)

    @property
    def text(self) -> str:
        """What stands on the screen now."""
        return "\n".join(line.rstrip() for line in self._screen.display).rstrip()

    @property
    def whole(self) -> str:
        """What stands on the screen and above it."""
        above = [
            "".join(line[x].data for x in range(self._screen.columns)).rstrip()
            for line in self._screen.history.top
        ]
        return "\n".join([*above, self.text])

    @property
    def echoes(self) -> bool:
        """Whether the terminal shows what is typed, line by line: as it was found."""
        modes = termios.tcgetattr(self._slave)[3]
        return bool(modes & termios.ECHO and modes & termios.ICANON)

    @property
    def _amid_a_frame(self) -> bool:
        """Whether a frame is only half here: a terminal would not show it yet."""
        return self.raw.rfind(b"\x1b[?2026h") > self.raw.rfind(b"\x1b[?2026l")

    def see(self, pattern: str, seconds: float = 60) -> str:
        """Wait until the screen holds the pattern; the screen."""
        end = time.monotonic() + seconds
        while self._amid_a_frame or not re.search(pattern, self.text, re.MULTILINE):
            assert time.monotonic() < end, (
                f"{pattern!r} does not stand on the screen:\n{self.whole}"
            )
            self._take(0.1)
        return self.text

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def enter(self, line: str = "") -> None:
        """Type a line."""
        self.press(line + ENTER)

    def resize(self, columns: int, rows: int) -> None:
        """Give the terminal another size."""
        self._size(columns, rows)
        self._screen.resize(rows, columns)

    def end(self, seconds: float = 60) -> int:
        """Wait for the end of the process; its exit code."""
        end = time.monotonic() + seconds
        while self._process.poll() is None:
            assert time.monotonic() < end, f"still running:\n{self.whole}"
            self._take(0.05)
        while self._take(0.05):
            pass
        return self._process.returncode

    def _take(self, seconds: float) -> bool:
        if not select.select([self._master], [], [], seconds)[0]:
            return False
        data = os.read(self._master, 65_536)
        self.raw += data
        self._stream.feed(data)
        return True

    def _size(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

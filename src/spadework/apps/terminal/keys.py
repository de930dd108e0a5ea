"""The keyboard while a run is shown: what is typed must not break the picture, and can be read."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import re
from collections.abc import Callable
from typing import TextIO

from spadework.apps.terminal.abilities import in_foreground

try:
    import termios
except ImportError:  # pragma: no cover  (Windows: what is typed shows)
    termios = None  # type: ignore[assignment]

#: Most characters of a typed line.
MOST_TYPED = 200
_SEQUENCE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]?|O.?|.)?", re.DOTALL)


class Keys:
    """A terminal that does not echo; with `on_line`, typed lines are read and handed over."""

    def __init__(self, terminal: TextIO, on_line: Callable[[str], None] | None = None) -> None:
        self.typed = ""
        self._fd = terminal.fileno()
        self._on_line = on_line
        self._decoder = codecs.getincrementaldecoder("utf-8")(errors="ignore")
        self._before: list[object] | None = None

    def start(self) -> None:
        """Stop the echo, and begin to listen."""
        if termios is None or self._before is not None or not in_foreground(self._fd):
            return
        self._before = termios.tcgetattr(self._fd)
        modes = termios.tcgetattr(self._fd)
        modes[3] &= ~termios.ECHO & (~termios.ICANON if self._on_line else ~0)
        termios.tcsetattr(self._fd, termios.TCSADRAIN, modes)
        if self._on_line:
            asyncio.get_running_loop().add_reader(self._fd, self._read)

    def stop(self) -> None:
        """Leave the terminal as it was."""
        if termios is None or self._before is None:
            return
        if self._on_line:
            asyncio.get_running_loop().remove_reader(self._fd)
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]
        self._before = None
        self.typed = ""

    def _read(self) -> None:
        try:
            data = os.read(self._fd, 4_096)
        except OSError:
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._fd)
            return
        for line in self.take(self._decoder.decode(data)):
            if self._on_line:
                self._on_line(line)

    def take(self, text: str) -> list[str]:
        """The lines that are ended by `text`; what is left is `typed`."""
        lines = []
        for key in _SEQUENCE.sub("", text):
            if key in "\r\n":
                lines.append(self.typed)
                self.typed = ""
            elif key in "\x7f\b":
                self.typed = self.typed[:-1]
            elif key == "\x15":
                self.typed = ""
            elif key.isprintable() and len(self.typed) < MOST_TYPED:
                self.typed += key
        return lines

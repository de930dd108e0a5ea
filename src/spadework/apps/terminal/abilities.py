"""What kind of terminal this is."""

from __future__ import annotations

import os
import sys
from typing import TextIO

#: A line is at most this wide, however wide the terminal is: longer ones are hard to read.
WIDEST = 100
#: The size where a terminal does not tell its own.
USUAL = (80, 24)


def can_ask() -> bool:
    """True where somebody can be asked: progress goes to a terminal."""
    return sys.stderr.isatty()


def is_plain(stream: TextIO) -> bool:
    """True where lines must stay lines: no terminal, NO_COLOR, or one that cannot show marks."""
    dumb = os.environ.get("TERM", "") in ("dumb", "") and os.name != "nt"
    no_marks = "utf" not in (stream.encoding or "").lower()
    return not stream.isatty() or bool(os.environ.get("NO_COLOR")) or dumb or no_marks


def in_foreground(descriptor: int) -> bool:
    """True unless the process was sent to the background, where the terminal is not its own."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except (AttributeError, OSError):
        return True


def size_of(stream: TextIO) -> tuple[int, int]:
    """Columns and rows of a terminal, now."""
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return USUAL
    return columns or USUAL[0], rows or USUAL[1]

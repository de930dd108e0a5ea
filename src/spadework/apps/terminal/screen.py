"""Terminal capabilities, and a panel redrawn in place at the bottom of the terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO, cast

from markdown_it.token import Token
from rich.console import Console
from rich.markdown import Markdown
from rich.style import Style
from rich.syntax import ANSISyntaxTheme
from rich.text import Text
from rich.theme import Theme

from spadework.tools.export.markdown_report import safe_url
from spadework.values import Result, Source

#: Maximum line width in columns, for readability.
WIDEST = 100
USUAL = (80, 24)


def can_ask() -> bool:
    """Return whether the user can be asked questions, which requires stderr to be a terminal."""
    return sys.stderr.isatty()


def is_plain(stream: TextIO) -> bool:
    """Return whether `stream` needs plain lines: it is not a terminal, or lacks color or UTF-8."""
    dumb = os.environ.get("TERM", "") in ("dumb", "") and os.name != "nt"
    no_marks = "utf" not in (stream.encoding or "").lower()
    return not stream.isatty() or bool(os.environ.get("NO_COLOR")) or dumb or no_marks


def in_foreground(descriptor: int) -> bool:
    """Return whether this process is in the terminal's foreground, or True if that is unknown."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except (AttributeError, OSError):
        return True


def size_of(stream: TextIO) -> tuple[int, int]:
    """Return the terminal's columns and rows."""
    try:
        columns, rows = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return USUAL
    return columns or USUAL[0], rows or USUAL[1]


#: Synchronized output shows a whole frame in one step. Terminals without it ignore these codes.
_BEGIN, _END = "\x1b[?2026h", "\x1b[?2026l"
#: Without line wrapping, a character of unexpected width cannot break the layout.
_NO_WRAP, _WRAP = "\x1b[?7l", "\x1b[?7h"
_ERASE_LINE, _ERASE_BELOW = "\x1b[2K", "\x1b[J"


class Panel:
    """Draws lines without flicker, by overwriting the last frame in one write."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._console = Console(
            file=stream, force_terminal=True, highlight=False, markup=False, emoji=False
        )
        self._widths: list[int] = []
        self._waiting: list[str] = []
        self._away = False

    @property
    def size(self) -> tuple[int, int]:
        """The columns and rows of a frame, each one fewer than the terminal's."""
        columns, rows = size_of(self._stream)
        return max(1, columns - 1), max(1, rows - 1)

    def say(self, text: Text) -> None:
        """Print text permanently above the panel when the next frame is drawn."""
        self._waiting.append(self._rendered(text, wrap=True))

    def draw(self, lines: Sequence[Text]) -> None:
        """Replace the panel's lines, which must fit `size`."""
        if not in_foreground(self._stream.fileno()):
            self._away = True
            return
        if self._away:
            # Other programs may have written to the terminal, so the panel's old lines can no
            # longer be found and erased.
            self._away, self._widths = False, []
        # Erase whole lines, because some terminals wrap erased cells.
        rows = [_ERASE_LINE + self._rendered(line, wrap=False) for line in lines]
        self._write(_NO_WRAP + "\r\n".join(rows) + _ERASE_BELOW + _WRAP)
        self._widths = [line.cell_len for line in lines]

    def clear(self) -> None:
        """Remove the panel. Text printed above it stays."""
        if self._widths or self._waiting:
            self._write(_ERASE_BELOW)
        self._widths = []

    def _write(self, frame: str) -> None:
        above = "".join(text + "\r\n" for text in self._waiting)
        self._waiting = []
        # If the terminal became narrower, it has wrapped the old lines, so they take more rows.
        columns, _ = size_of(self._stream)
        up = sum(max(1, -(-width // columns)) for width in self._widths) - 1
        start = "\r" + (f"\x1b[{up}A" if up > 0 else "") + (_ERASE_BELOW if above else "")
        self._stream.write(_BEGIN + start + above + frame + _END)
        self._stream.flush()

    def _rendered(self, text: Text, *, wrap: bool) -> str:
        columns, _ = self.size
        with self._console.capture() as capture:
            self._console.print(
                text, end="", width=columns, no_wrap=not wrap, overflow="fold" if wrap else "crop"
            )
        return capture.get().replace("\n", "\r\n")


#: Styles that are readable on light and dark backgrounds.
_THEME = Theme(
    {
        "markdown.code": "bold",
        "markdown.code_block": "none",
        "markdown.h1": "bold",
        "markdown.item.number": "bold",
    }
)
_CODE = ANSISyntaxTheme(
    {
        ("Comment",): Style(italic=True, dim=True),
        ("Keyword",): Style(bold=True),
        ("Literal", "String"): Style(color="green"),
        ("Literal", "Number"): Style(color="magenta"),
        ("Name", "Function"): Style(color="cyan"),
        ("Name", "Class"): Style(color="cyan"),
    }
)


def terminal_console() -> Console:
    """Return a console on stdout, at most `WIDEST` columns wide."""
    console = Console(highlight=False, markup=False, emoji=False, theme=_THEME)
    console.width = min(console.width, WIDEST)
    return console


def draw_report(result: Result, console: Console | None = None) -> None:
    """Print a report. Library sources link to stored pages."""
    drawn = Markdown(result.report, code_theme=cast(str, _CODE))
    files = {
        safe_url(s.url): stored_file(result, s).as_uri()
        for s in result.sources
        if not s.url.startswith("http")
    }
    _lead(drawn.parsed, files)
    (console or terminal_console()).print(drawn)


def _lead(tokens: Sequence[Token], files: Mapping[str, str]) -> None:
    """Replace addresses with file URLs after parsing, because the parser rejects file URLs."""
    for token in tokens:
        if token.type == "link_open":
            address = str(token.attrs.get("href", ""))
            token.attrs["href"] = files.get(address, address)
        _lead(token.children or (), files)


def stored_file(result: Result, source: Source) -> Path:
    """Return the file with a source's text."""
    return Path(result.session_dir).absolute() / "pages" / f"{source.content_hash}.md"

"""Where the chat shows what it has to say: drawn in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import typer
from rich.console import Console, Group, RenderableType
from rich.text import Text

from spadework.apps.outputs import print_report
from spadework.apps.saying import say
from spadework.apps.terminal.abilities import is_plain
from spadework.apps.terminal.report import terminal_console
from spadework.apps.terminal.typed_lines import Piped, Typed
from spadework.apps.terminal.views import closing_line
from spadework.values import Result
from spadework.visible import visible

#: What was typed before, kept in the home.
HISTORY = "chat_history"


class Screen:
    """Shows on stdout. `live`: there is a terminal at both ends, so lines are typed and edited."""

    def __init__(self) -> None:
        self.live = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
        self._console = _plain_console() if is_plain(sys.stdout) else terminal_console()

    def lines(self, home: Path, sessions: Callable[[], list[str]]) -> Typed | Piped:
        """Where lines come from. `sessions` can be resumed, by their ids. Raises SettingsError."""
        return Typed(home / HISTORY, sessions) if self.live else Piped()

    def show(self, what: RenderableType) -> None:
        """Show something that was asked for."""
        # In a group, since the console joins texts and forgets how they wanted to be wrapped.
        with self._console.capture() as capture:
            self._console.print(Group(what), crop=False)
        typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()), color=True)

    def say(self, text: str) -> None:
        """A sentence to the user, not a part of any answer."""
        if self.live:
            self._console.print(Text(visible(text), "dim"))
        else:
            say(text, err=True)

    def report(self, result: Result) -> None:
        """A report, and in a terminal what can be typed now."""
        print_report(result)
        if self.live:
            self._console.print(Text("\n") + closing_line(result))


def _plain_console() -> Console:
    """Text as it is, each line whole: what reads it may be a program."""
    width = None if sys.stdout.isatty() else 10_000
    return Console(
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
        color_system=None,
        force_terminal=False,
    )

"""A run in a terminal: a picture that is drawn again on every event and, for its clock, always."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable

from rich.text import Text

from spadework.apps.forecast_text import foretold
from spadework.apps.terminal.keys import Keys
from spadework.apps.terminal.panel import Panel
from spadework.apps.terminal.run_lines import Meter, fit_line, picture
from spadework.apps.view_model import ViewModel
from spadework.budget import Budget
from spadework.events import Event, Notice, Planned
from spadework.tools.text.markdown_marks import one_line

#: Seconds between two frames.
FRAME = 0.125
_HINT = "/stop or Ctrl-C: write now with what there is"


class Live:
    """Shows a run on stderr until it is closed. With `on_line`, lines can be typed below it."""

    def __init__(self, budget: Budget, on_line: Callable[[str], None] | None = None) -> None:
        self._budget = budget
        self._view = ViewModel()
        self._status = ""
        self._panel = Panel(sys.stderr)
        self._typing = on_line is not None
        self._keys = Keys(sys.stdin if on_line else sys.stderr, on_line)
        self._loop = asyncio.get_running_loop()
        self._ticking: asyncio.Task[None] | None = None
        self.go_on()

    def show(self, event: Event) -> None:
        """Take an event into the picture."""
        if isinstance(event, Notice):
            self._panel.say(Text(f"Note: {one_line(event.text, 1_000)}", "dim"))
        if isinstance(event, Planned) and event.forecast:
            self._panel.say(Text(f"Forecast: {foretold(event.forecast)}", "dim"))
        self._view.take(event)
        self._draw()

    def note(self, text: str) -> None:
        """Say what is being done; from any thread."""

        def noted() -> None:
            self._status = text
            self._draw()

        self._loop.call_soon_threadsafe(noted)

    def pause(self) -> None:
        """Give the terminal to somebody else."""
        if self._ticking:
            self._ticking.cancel()
            self._ticking = None
        self._panel.clear()
        self._keys.stop()

    def go_on(self) -> None:
        """Take the terminal again."""
        if not self._ticking:
            self._keys.start()
            self._ticking = self._loop.create_task(self._tick())

    async def close(self) -> None:
        """Leave the terminal as it was."""
        ticking = self._ticking
        self.pause()
        if ticking:
            await asyncio.gather(ticking, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            self._draw()
            await asyncio.sleep(FRAME)

    def _draw(self) -> None:
        if not self._ticking:
            return
        columns, rows = self._panel.size
        meter = Meter(self._budget.elapsed(), self._budget.limits, self._budget.used)
        # Below the picture: a word to the user, and what they type.
        extra = []
        if self._status and self._view.topics:
            extra.append(Text(f" {one_line(self._status)}", "bold"))
        if self._typing and (typed := self._keys.typed):
            extra.append(Text(f"› {typed[-max(1, columns - 3) :]}"))
        elif self._typing:
            extra.append(Text(f"› {_HINT}", "dim"))
        lines = picture(self._view, meter, columns, max(1, rows - len(extra)), self._status)
        self._panel.draw([*lines, *(fit_line(line, columns) for line in extra)])

"""The live view of a run."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from typing import NamedTuple, TextIO

from rich.cells import cell_len
from rich.text import Text

from spadework.apps.messages import number_of
from spadework.apps.terminal.screen import Panel, in_foreground
from spadework.apps.view_model import Phase, SourceView, TopicView, ViewModel, foretold
from spadework.budget import Budget, Limits
from spadework.events import Event, Foreseen, Notice, Planned
from spadework.tools.web.urls import host_of, hosts_for_urls
from spadework.values import STATE_WORDS, Usage
from spadework.visible import one_line

MOST_SOURCES = 6
STATE_COLUMNS = 29
LEAST_NAME = 12

#: The mark and style for each phase of a topic. The marks are meaningful even without color.
MARKS: dict[Phase, tuple[str, str]] = {
    "waiting": ("·", "dim"),
    "searching": ("…", "cyan"),
    "reading": ("…", "cyan"),
    "answered": ("✓", "green"),
    "partly": ("~", "magenta"),
    "open": ("✗", "red"),
}


class Meter(NamedTuple):
    """A run's usage so far, and its limits."""

    seconds: float
    limits: Limits
    used: Usage


def picture(view: ViewModel, meter: Meter, width: int, height: int, status: str = "") -> list[Text]:
    """Draw the view in at most `height` lines. Until there is a plan, show `status`."""
    room = max(1, height - 2)
    head = [_head(view, status)] if height > 2 else []
    topics = [topic_line(topic, _state(view, topic), width) for topic in view.topics.values()]
    if len(topics) > room:
        topics = [*topics[: room - 1], Text(f"    and {len(topics) - room + 1} more topics", "dim")]
    free = min(MOST_SOURCES, room - len(topics))
    newest = list(view.sources.values())[-free:] if free > 0 else []
    lines = [
        *head,
        *topics,
        *(source_line(source, width) for source in newest),
        meter_line(view, meter),
    ]
    return [fit_line(line, width) for line in lines[-max(1, height) :]]


def _state(view: ViewModel, topic: TopicView) -> Phase:
    if topic.phase == "waiting":
        return "waiting" if view.asked or view.follows else "searching"
    return "searching" if not view.rounds and topic.phase in ("partly", "open") else topic.phase


def topic_line(topic: TopicView, state: Phase, width: int) -> Text:
    """Format a topic as `✓ answered (4 quotes) Name`."""
    reading = f"reading {len(topic.open)}" if topic.open else f"read {topic.fresh}"
    words = reading if state == "reading" else state_words(state, topic.quotes)
    mark, style = MARKS[state]
    columns = STATE_COLUMNS if width >= STATE_COLUMNS + LEAST_NAME else 0
    return Text.assemble(" ", (f"{mark} {words:<{columns}} ", style), one_line(topic.topic.name))


def state_words(state: Phase, quotes: int) -> str:
    """Describe a topic's state, with the number of quotes that answer it."""
    if state == "answered" or state == "partly":
        return f"{STATE_WORDS[state]} ({number_of(quotes, 'quote')})"
    return state


def source_line(source: SourceView, width: int) -> Text:
    """Format a source as `✓ Title (host)` or `✗ Title: the reason`."""
    mark = "✗" if source.reason else "✓" if source.state == "read" else "…"
    name = Text(one_line(source.title) or one_line(source.url))
    host = host_of(source.url) if "://" in source.url else ""
    behind = (
        f": {one_line(hosts_for_urls(source.reason))}"
        if source.reason
        else f" ({one_line(host)})"
        if host
        else ""
    )
    room = width - 5 - min(cell_len(behind), width // 2)
    name.truncate(max(1, room), overflow="ellipsis")
    return Text.assemble(f"   {mark} ", name, behind, style="dim")


def meter_line(view: ViewModel, meter: Meter) -> Text:
    """Format the usage so far, including tokens and money if there is a model."""
    used = meter.used
    parts = [f"{clock(meter.seconds)} of {clock(meter.limits.minutes * 60)}"]
    if view.searches or any(topic.coverage for topic in view.topics.values()):
        most = meter.limits.iterations
        parts.append(f"round {min(view.rounds + 1, most)}/{most}")
    parts += [number_of(view.read, "page"), number_of(view.quotes, "quote")]
    if view.mode == "model":
        parts.append(f"{format_count(used.tokens_in + used.tokens_out)} tokens")
        parts.append("price unknown" if used.money is None else f"${used.money:.3f}")
    return Text(" " + " · ".join(parts), "dim")


def format_count(n: int) -> str:
    """Format a number as 9999, 12k or 1.2M."""
    if n < 10_000:
        return str(n)
    return f"{n // 1_000}k" if n < 1_000_000 else f"{n / 1_000_000:.1f}M"


def clock(seconds: float) -> str:
    """Format seconds as 1:05 or 1:00:05."""
    minutes, rest = divmod(int(max(0.0, seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def fit_line(line: Text, width: int) -> Text:
    """Cut a line to `width` columns. Wide characters take two columns."""
    line = line.copy()
    line.truncate(max(1, width), overflow="ellipsis")
    return line


def _head(view: ViewModel, status: str) -> Text:
    if status and not view.topics:
        return Text(f" {one_line(status)}", "dim")
    if not view.mode:
        return Text(" Starting", "dim")
    how = "with a language model" if view.mode == "model" else "without a language model"
    names = one_line("; ".join(view.searching)) or "nothing"
    what = "Resuming" if view.resumed else "Researching" if view.topics else "Planning"
    return Text(f" {what} {how}; searching {names}", "dim")


try:
    import termios
except ImportError:  # pragma: no cover  (on Windows, typed text stays visible)
    termios = None  # type: ignore[assignment]


class Keys:
    """Turns off a terminal's echo, and restores it afterwards."""

    def __init__(self, terminal: TextIO) -> None:
        self._fd = terminal.fileno()
        self._before: list[object] | None = None

    def start(self) -> None:
        """Turn off echo."""
        if termios is None or self._before is not None or not in_foreground(self._fd):
            return
        self._before = termios.tcgetattr(self._fd)
        modes = termios.tcgetattr(self._fd)
        modes[3] &= ~termios.ECHO
        termios.tcsetattr(self._fd, termios.TCSADRAIN, modes)

    def stop(self, *, forget: bool = False) -> None:
        """Restore the terminal. With `forget`, discard pending input."""
        if termios is None or self._before is None:
            return
        how = termios.TCSAFLUSH if forget else termios.TCSADRAIN
        with contextlib.suppress(termios.error):
            termios.tcsetattr(self._fd, how, self._before)  # type: ignore[arg-type]
        self._before = None


FRAME = 0.125
_HINT = "Ctrl-C: write the report now"


class Live:
    """Shows a run on stderr until closed."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._view = ViewModel()
        self._status = ""
        self._panel = Panel(sys.stderr)
        self._keys = Keys(sys.stderr)
        self._loop = asyncio.get_running_loop()
        self._ticking: asyncio.Task[None] | None = None
        self.go_on()

    def show(self, event: Event) -> None:
        """Update the view with an event."""
        if isinstance(event, Notice):
            self._panel.say(Text(f"Note: {one_line(event.text, 1_000)}", "dim"))
        if isinstance(event, Foreseen | Planned) and event.forecast:
            self._panel.say(Text(f"Estimate: {foretold(event.forecast)}", "dim"))
        self._view.take(event)
        self._draw()

    def note(self, text: str) -> None:
        """Show the current activity. Thread-safe."""

        def noted() -> None:
            self._status = text
            self._draw()

        self._loop.call_soon_threadsafe(noted)

    def pause(self) -> None:
        """Release the terminal for a question, and discard earlier input."""
        self._release()
        self._keys.stop(forget=True)

    def _release(self) -> None:
        if self._ticking:
            self._ticking.cancel()
            self._ticking = None
        self._panel.clear()

    def go_on(self) -> None:
        """Take over the terminal again."""
        if not self._ticking:
            self._keys.start()
            self._ticking = self._loop.create_task(self._tick())

    async def close(self) -> None:
        """Stop drawing and restore the terminal."""
        ticking = self._ticking
        self._release()
        self._keys.stop()
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
        extra = []
        if self._status and self._view.topics:
            extra.append(Text(f" {one_line(self._status)}", "bold"))
        extra.append(Text(f" {_HINT}", "dim"))
        lines = picture(self._view, meter, columns, max(1, rows - len(extra)), self._status)
        self._panel.draw([*lines, *(fit_line(line, columns) for line in extra)])

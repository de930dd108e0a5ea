"""How a run shows on the terminal: a live checklist of topics and the last sources, or plain lines where nothing can be redrawn."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Protocol

from spadework.events import Assessed, Event, Notice, Planned, Read, Reading, Searched, Started

if TYPE_CHECKING:
    from rich.console import RenderableType

#: Sources shown at once below the topics.
SOURCES_SHOWN = 6


class Progress(Protocol):
    """Something that shows events."""

    def show(self, event: Event) -> None:
        """Show an event."""
        ...

    def note(self, text: str) -> None:
        """Show a line of text."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was."""
        ...


def progress_for(*, quiet: bool) -> Progress:
    """Live in a terminal, plain lines elsewhere and with NO_COLOR; nothing but notes when `quiet`."""
    if quiet:
        return Lines(quiet=True)
    if sys.stderr.isatty() and not os.environ.get("NO_COLOR"):
        return Live()
    return Lines()


class Lines:
    """One line for every event worth one."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._quiet = quiet

    def show(self, event: Event) -> None:
        """Print the event's line, if it has one."""
        if (text := worded(event)) and not self._quiet:
            self.note(text)

    def note(self, text: str) -> None:
        """Print a line."""
        sys.stderr.write(text + "\n")
        sys.stderr.flush()

    def close(self) -> None:
        """Nothing to do."""


def worded(event: Event) -> str:
    """An event as one line, "" for those not worth one."""
    if isinstance(event, Started):
        mode = "with a language model" if event.mode == "model" else "without a language model"
        verb = "Resuming" if event.resumed else "Researching"
        return f"{verb} {mode}. Searching {'; '.join(event.searching) or 'nothing'}. Session {event.session_id}"
    if isinstance(event, Notice):
        return f"Note: {event.text}"
    if isinstance(event, Planned):
        return "Plan:\n" + "\n".join(f"  - {topic.name}" for topic in event.plan.topics)
    if isinstance(event, Searched):
        return f"Searched {event.provider} for “{event.query}”: {event.hits} hits"
    if isinstance(event, Read):
        return (
            f"Not read: {event.title or event.url}: {event.reason}"
            if event.reason
            else f"Read: {event.title or event.url} ({event.chars} characters)"
        )
    if isinstance(event, Assessed):
        states = "\n".join(
            f"  - {c.topic}: {'covered' if c.covered else 'open'} ({c.score:.2f}, {len(c.evidence_ids)} quotes)" for c in event.coverage
        )
        return f"Round {event.round}: {event.evidence} quotes\n{states}"
    return ""


class Live:
    """A panel that is redrawn: topics with their state, the last sources, time and tokens."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.live import Live as RichLive

        self._states: dict[str, tuple[str, str]] = {}
        self._sources: deque[str] = deque(maxlen=SOURCES_SHOWN)
        self._head = ""
        self._meter = ""
        self._began = time.monotonic()
        self._console = Console(stderr=True)
        self._live = RichLive(get_renderable=self._draw, console=self._console, refresh_per_second=4, transient=True)
        self._live.start()

    def show(self, event: Event) -> None:
        """Take an event into the picture."""
        if isinstance(event, (Started, Notice)):
            self._console.print(worded(event), style="dim", highlight=False)
        elif isinstance(event, Planned):
            self._states = {topic.name: ("searching", "cyan") for topic in event.plan.topics}
        elif isinstance(event, Searched):
            self._states[event.topic] = ("searching", "cyan")
        elif isinstance(event, Reading):
            self._states[event.topic] = ("reading", "blue")
        elif isinstance(event, Read):
            self._read(event)
        elif isinstance(event, Assessed):
            self._assessed(event)

    def note(self, text: str) -> None:
        """Print a line above the panel."""
        self._console.print(text, style="dim", highlight=False)

    def close(self) -> None:
        """Take the panel away."""
        self._live.stop()

    def _read(self, event: Read) -> None:
        mark = f"✗ {event.title or event.url}: {event.reason}" if event.reason else f"✓ {event.title or event.url}"
        self._sources.append(mark)

    def _assessed(self, event: Assessed) -> None:
        for c in event.coverage:
            gap = ("gap", "yellow") if c.evidence_ids else ("not found", "red")
            self._states[c.topic] = (f"covered, {len(c.evidence_ids)} quotes", "green") if c.covered else gap
        used = event.usage
        tokens = f", {used.tokens_in + used.tokens_out} tokens" if used.model_calls else ""
        money = "" if not used.model_calls else ", price unknown" if used.money is None else f", ${used.money:.3f}"
        self._meter = f", round {event.round}, {event.evidence} quotes{tokens}{money}"

    def _draw(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        rows = [Text.assemble("  ", (f"{state:<20}", style), name) for name, (state, style) in self._states.items()]
        rows += [Text("    " + line, style="dim", overflow="ellipsis", no_wrap=True) for line in self._sources]
        rows.append(Text(f"  {time.monotonic() - self._began:.0f} s{self._meter}", style="dim"))
        return Group(*rows)

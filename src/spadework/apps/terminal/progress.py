"""Progress of a run in the terminal: a live view, or lines where that is impossible."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from spadework.apps.forecast_text import foretold
from spadework.apps.messages import number_of, say_json
from spadework.apps.terminal.screen import in_foreground, is_plain
from spadework.budget import Budget
from spadework.events import (
    Answered,
    Asked,
    Assessed,
    Checked,
    Event,
    Notice,
    Planned,
    Read,
    Searched,
    Started,
)
from spadework.tools.text.markdown import one_line
from spadework.values import STATE_WORDS
from spadework.visible import visible

if TYPE_CHECKING:
    from spadework.apps.terminal.live_view import Live


def progress_for(
    budget: Budget, *, as_json: bool = False, on_line: Callable[[str], None] | None = None
) -> Progress:
    """Return a live view in a terminal, lines elsewhere, or events `as_json`. `on_line` receives
    typed lines.
    """
    if as_json or is_plain(sys.stderr) or not in_foreground(sys.stderr.fileno()):
        return Lines(as_json=as_json)
    from spadework.apps.terminal.live_view import Live

    return Live(budget, on_line)


Progress: TypeAlias = "Lines | Live"


class Lines:
    """One line per event worth one; searches and pages since the previous line share one.
    `as_json`: one JSON line per event.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json
        self._searches = 0
        self._read: set[str] = set()
        self._unread: set[str] = set()

    def show(self, event: Event) -> None:
        """Print the event's line, if any."""
        if self._as_json:
            say_json(event.model_dump_json())
        elif isinstance(event, Searched):
            self._searches += 1
        elif isinstance(event, Read):
            (self._unread if event.reason else self._read).add(event.url)
        elif not isinstance(event, Checked) and (text := word_event(event)):
            self._sum_up()
            self.note(text)

    def _sum_up(self) -> None:
        """Print what was searched and read since the last summary."""
        parts = (
            (self._searches, f"searched {number_of(self._searches, 'time')}"),
            (len(self._read), f"read {number_of(len(self._read), 'page')}"),
            (len(self._unread), f"{len(self._unread)} could not be read"),
        )
        if said := ", ".join(text for count, text in parts if count):
            self.note(said[0].upper() + said[1:])
        self._searches, self._read, self._unread = 0, set(), set()

    def note(self, text: str) -> None:
        """Print a line."""
        sys.stderr.write(visible(text) + "\n")
        sys.stderr.flush()

    def pause(self) -> None:
        """Do nothing."""

    def go_on(self) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Print what is left."""
        self._sum_up()


def word_event(event: Event) -> str:
    """Return an event as one line, "" if not worth one."""
    if isinstance(event, Started):
        mode = "with a language model" if event.mode == "model" else "without a language model"
        verb = "Resuming" if event.resumed else "Researching"
        return (
            f"{verb} {mode}. Searching {'; '.join(event.searching) or 'nothing'}. Session"
            f" {event.session_id}"
        )
    if isinstance(event, Notice):
        return f"Note: {event.text}"
    if isinstance(event, Asked):
        options = (f"  {n}. {one_line(option)}" for n, option in enumerate(event.options, 1))
        return "\n".join([one_line(event.text), *options])
    if isinstance(event, Answered):
        return f"Answer: {one_line(event.text) or 'none, going on'}"
    if isinstance(event, Planned):
        lines = ["Plan:", *(f"  - {one_line(topic.name)}" for topic in event.plan.topics)]
        lines += [f"Estimate: {foretold(event.forecast)}"] if event.forecast else []
        return "\n".join(lines)
    return _of_work(event)


def _of_work(event: Event) -> str:
    if isinstance(event, Searched):
        how = "Searched" if event.topic else "A first look: searched"
        return (
            f"{how} {event.provider} for “{one_line(event.query)}”: {number_of(event.hits, 'hit')}"
        )
    if isinstance(event, Checked):
        return (
            f"Checked {number_of(event.hits, 'hit')} for {one_line(event.topic)}:"
            f" {len(event.against)} are not worth reading"
        )
    if isinstance(event, Read):
        name = one_line(event.title or event.url)
        return (
            f"Not read: {name}: {one_line(event.reason)}"
            if event.reason
            else f"Read: {name} ({event.chars} characters)"
        )
    if isinstance(event, Assessed):
        states = "\n".join(
            f"  - {one_line(c.topic)}: {STATE_WORDS[c.state]}"
            f" ({number_of(len(c.evidence_ids), 'quote')})"
            for c in event.coverage
        )
        known = "Known already" if event.round == 0 else f"Round {event.round}"
        return f"{known}: {number_of(event.evidence, 'quote')}\n{states}"
    return ""

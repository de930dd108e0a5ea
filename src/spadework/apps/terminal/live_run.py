"""Run a session in the terminal."""

from __future__ import annotations

import asyncio
import signal
import sys
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import psutil

from spadework.apps.exit import FAILED, INTERRUPTED, LEAVING, describe_error
from spadework.apps.messages import number_of, say, say_json
from spadework.apps.outputs import Output, print_report, write_output
from spadework.apps.terminal.screen import can_ask, in_foreground, is_plain
from spadework.apps.view_model import foretold
from spadework.budget import Budget
from spadework.errors import DiskFailed
from spadework.events import (
    Answered,
    Asked,
    Assessed,
    Checked,
    Event,
    Finished,
    Foreseen,
    Notice,
    Planned,
    Read,
    Searched,
    Started,
)
from spadework.sessions.session import Session
from spadework.tools.web.background_threads import aside
from spadework.values import STATE_WORDS, Result, Status
from spadework.visible import one_line, visible

if TYPE_CHECKING:
    from spadework.apps.terminal.live_view import Live


def progress_for(budget: Budget, *, as_json: bool = False) -> Progress:
    """Return a live view, or `Lines` if the terminal does not support it or `as_json` is set."""
    if as_json or is_plain(sys.stderr) or not in_foreground(sys.stderr.fileno()):
        return Lines(as_json=as_json)
    from spadework.apps.terminal.live_view import Live

    return Live(budget)


Progress: TypeAlias = "Lines | Live"


class Lines:
    """Prints notable events as lines, or all events as JSON."""

    def __init__(self, *, as_json: bool = False) -> None:
        self._as_json = as_json
        self._searches = 0
        self._read: set[str] = set()
        self._unread: set[str] = set()

    def show(self, event: Event) -> None:
        """Print the event's line, if it has one."""
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
        """Do nothing: there is no view to pause."""

    def go_on(self) -> None:
        """Do nothing: there is no view to resume."""

    async def close(self) -> None:
        """Print the final summary of searches and pages."""
        self._sum_up()


def word_event(event: Event) -> str:
    """Describe an event in words. Return "" for a minor one."""
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
        return f"Answer: {one_line(event.text) or 'none, continuing'}"
    if isinstance(event, Foreseen):
        return f"Estimate: {foretold(event.forecast)}"
    if isinstance(event, Planned):
        lines = ["Plan:", *(f"  - {one_line(topic.name)}" for topic in event.plan.topics)]
        lines += [f"Estimate: {foretold(event.forecast)}"] if event.forecast else []
        return "\n".join(lines)
    return _of_work(event)


def _of_work(event: Event) -> str:
    if isinstance(event, Searched):
        how = "Searched" if event.topic else "Before planning, searched"
        return (
            f"{how} {event.provider} for “{one_line(event.query)}”: {number_of(event.hits, 'hit')}"
        )
    if isinstance(event, Checked):
        return (
            f"Checked {number_of(event.hits, 'hit')} for {one_line(event.topic)}:"
            f" {len(event.against)} not worth reading"
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
        known = "Already known" if event.round == 0 else f"Round {event.round}"
        return f"{known}: {number_of(event.evidence, 'quote')}\n{states}"
    return ""


EXIT: dict[Status, int] = {
    "completed": 0,
    "partial": 0,
    "failed": 1,
    "time_limited": 3,
    "budget_limited": 3,
}

#: A function that asks the user and returns the answer, or None if the user leaves the run.
Answer = Callable[[Asked], Awaitable[str | None]]


class Interrupts:
    """Handles Ctrl-C: the first press stops searching, the second leaves the run (sets `left`)."""

    def __init__(self, session: Session, note: Callable[[str], None]) -> None:
        self.left = asyncio.Event()
        self._session = session
        self._note = note
        self._stopping = False
        self._before = signal.getsignal(signal.SIGTERM)

    def listen(self) -> None:
        """Install the signal handlers, replacing any others."""
        loop = asyncio.get_running_loop()
        # On Windows, event loops have no signal handlers, so Ctrl-C quits at once.
        with suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGINT, self.pressed)
            loop.add_signal_handler(signal.SIGTERM, self.left.set)

    def ignore(self) -> None:
        """Restore the previous signal handlers."""
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError):
            loop.remove_signal_handler(signal.SIGINT)
            if loop.remove_signal_handler(signal.SIGTERM):
                signal.signal(signal.SIGTERM, self._before)

    def pressed(self) -> None:
        """Handle Ctrl-C."""
        if self._stopping:
            self.left.set()
        self._stopping = True
        self._note("Stopping: writing the report from the evidence. Press Ctrl-C again to quit.")
        self._session.stop()


@dataclass
class Run:
    """A run in a terminal. If `answer` is None, the questions it asks get empty answers."""

    session: Session
    progress: Progress
    answer: Answer | None = None
    deliver: Callable[[Result], None] | None = None

    def __post_init__(self) -> None:
        self.interrupts = Interrupts(self.session, self.progress.note)
        self._delivering: asyncio.Task[Result] | None = None

    async def result(self) -> Result | None:
        """Run the session. Return its result, or None if the user left first."""
        self.interrupts.listen()
        watching = asyncio.create_task(self._watch())
        leaving = asyncio.create_task(self.interrupts.left.wait())
        try:
            await asyncio.wait((watching, leaving), return_when=asyncio.FIRST_COMPLETED)
            if watching.done():
                return watching.result()
            return await self._delivering if self._delivering else None
        finally:
            await _ignore_cancel(watching, leaving)
            self.interrupts.ignore()
            await self.progress.close()

    async def _watch(self) -> Result | None:
        asking: asyncio.Task[None] | None = None
        try:
            async with aclosing(self.session.events(self.progress.note)) as events:
                async for event in events:
                    self.progress.show(event)
                    if isinstance(event, Asked):
                        asking = asyncio.create_task(self._ask(event))
                    elif isinstance(event, Answered) and asking:
                        await _ignore_cancel(asking)
                    elif isinstance(event, Finished):
                        self._delivering = asyncio.create_task(self._deliver(event.result))
                        return await asyncio.shield(self._delivering)
        finally:
            if asking:
                await _ignore_cancel(asking)
        return None

    async def _deliver(self, result: Result) -> Result:
        if self.deliver:
            await self.progress.close()
            await aside(self.deliver, result)
        return result

    async def _ask(self, asked: Asked) -> None:
        if self.answer is None:
            self.session.answer("")
            return
        self.progress.pause()
        try:
            said = await self.answer(asked)
        finally:
            self.interrupts.listen()
            self.progress.go_on()
        if said is None:
            self.interrupts.left.set()
        else:
            self.session.answer(said)


async def _ignore_cancel(*tasks: asyncio.Task[object] | asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def run(session: Session, output: Output) -> int:
    """Run a session, print its result and return the exit code. Raises SystemExit if cut short."""
    # Outside the run, treat SIGTERM like Ctrl-C.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # Run time counts from the start of the process.
    session.budget.start(time.monotonic() - (time.time() - psutil.Process().create_time()))

    def deliver(result: Result) -> None:
        code = FAILED  # the exit code if printing fails
        try:
            _print(result, output)
            code = EXIT[result.status]
        finally:
            LEAVING.begin(session.budget.seconds_left(), code)

    result = asyncio.run(_run(session, output, deliver))
    if result is None:
        say(f"Interrupted. To resume, run: spadework resume {session.session_id}", err=True)
        raise SystemExit(INTERRUPTED)
    LEAVING.closed(session.settings.home)
    return EXIT[result.status]


async def _run(
    session: Session, output: Output, deliver: Callable[[Result], None]
) -> Result | None:
    answer = None
    if can_ask() and (session.settings.clarify or session.settings.approve):
        from spadework.apps.terminal.question_input import Questions

        answer = Questions().answer
    progress = progress_for(session.budget, as_json=output.events)
    try:
        return await Run(session, progress, answer, deliver).result()
    except DiskFailed as error:
        # Set a deadline for the exit, because threads waiting for the failed disk could block it.
        say(describe_error(error), err=True)
        if LEAVING.alone:
            LEAVING.begin(session.budget.seconds_left(), FAILED)
        raise SystemExit(FAILED) from None


def _print(result: Result, output: Output) -> None:
    if output.file:
        write_output(result, output.file)
    if output.as_json:
        say_json(result.model_dump_json())
    elif not output.events:
        print_report(result)
    where = output.file or Path(result.session_dir)
    say(f"{result.status}: {where}", err=True)

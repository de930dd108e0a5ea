"""Running a session: progress on stderr, questions, Ctrl-C, report on stdout, exit code."""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from spadework.apps.exit import FAILED, INTERRUPTED, describe_error
from spadework.apps.messages import say, say_json
from spadework.apps.outputs import Output, print_report, write_output
from spadework.apps.process_exit import LEAVING
from spadework.apps.terminal.progress import Progress, progress_for
from spadework.apps.terminal.screen import can_ask
from spadework.errors import DiskFailed
from spadework.events import Answered, Asked, Finished
from spadework.sessions.session import Session
from spadework.tools.web.background_threads import aside
from spadework.values import Result, Status

EXIT: dict[Status, int] = {
    "completed": 0,
    "partial": 0,
    "failed": 1,
    "time_limited": 3,
    "budget_limited": 3,
}

#: Asks the user; None if they leave the run.
Answer = Callable[[Asked], Awaitable[str | None]]


class Interrupts:
    """Ctrl-C during a run: once stops searching and writes, twice leaves the run, to be resumed
    later. `left` is set when the user leaves.
    """

    def __init__(self, session: Session, note: Callable[[str], None]) -> None:
        self.left = asyncio.Event()
        self._session = session
        self._note = note
        self._stopping = False
        self._before = signal.getsignal(signal.SIGTERM)

    def listen(self) -> None:
        """Take over the signals, even from another handler."""
        loop = asyncio.get_running_loop()
        # Windows event loops have no signal handlers; Ctrl-C quits at once there.
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
        self.stop()

    def stop(self) -> None:
        """Stop searching and write the report."""
        self._stopping = True
        self._note("Stopping: writing with what there is. Ctrl-C again quits.")
        self._session.stop()


@dataclass
class Run:
    """One run in an interface. Without `answer` no questions are asked; `deliver` gets the result
    before anything is closed.
    """

    session: Session
    progress: Progress
    answer: Answer | None = None
    deliver: Callable[[Result], None] | None = None

    def __post_init__(self) -> None:
        self.interrupts = Interrupts(self.session, self.progress.note)
        self._delivering: asyncio.Task[Result] | None = None

    async def result(self) -> Result | None:
        """Return the result, or None if the user left before."""
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
                        # Answered, or timed out.
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
    """Run a session and print its result; return the exit code."""
    # Also before and after the run itself, a signal is reported.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    # A run's clock starts with its process, not after its imports.
    session.budget.start(time.monotonic() - (time.time() - psutil.Process().create_time()))

    def deliver(result: Result) -> None:
        code = FAILED  # if nobody reads the report
        try:
            _print(result, output)
            code = EXIT[result.status]
        finally:
            LEAVING.begin(session.budget.seconds_left(), code)

    result = asyncio.run(_run(session, output, deliver))
    if result is None:
        say(f"Interrupted. Take it up with: spadework resume {session.session_id}", err=True)
        return INTERRUPTED
    LEAVING.closed(session.settings.home)
    return EXIT[result.status]


async def _run(
    session: Session, output: Output, deliver: Callable[[Result], None]
) -> Result | None:
    answer = None
    if can_ask() and (session.settings.clarify or session.settings.approve):
        from spadework.apps.terminal.questions import Questions

        answer = Questions().answer
    progress = progress_for(session.budget, as_json=output.events)
    try:
        return await Run(session, progress, answer, deliver).result()
    except DiskFailed as error:
        # Threads still waiting for the disk would keep the process alive: do not wait for them.
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

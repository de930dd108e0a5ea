"""Running a session for the command line: progress on stderr, the report on stdout, Ctrl-C, the exit code."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from contextlib import aclosing
from pathlib import Path

import psutil
import typer

from spadework.apps.outputs import Output, print_report, write_output
from spadework.apps.progress import Progress, progress_for
from spadework.events import Finished
from spadework.sessions.session import Session
from spadework.values import Result, Status

EXIT: dict[Status, int] = {"completed": 0, "partial": 0, "failed": 1, "time_limited": 3, "budget_limited": 3}
INTERRUPTED = 130


def run(session: Session, output: Output) -> int:
    """Run a session to its end and print its result; the exit code."""
    # The clock of a run starts with its process, not after its imports.
    session.budget.start(time.monotonic() - (time.time() - psutil.Process().create_time()))
    result = asyncio.run(_run(session, output))
    if result is None:
        typer.echo(f"Interrupted. Take it up with: spadework resume {session.session_id}", err=True)
        return INTERRUPTED
    _print(result, output)
    return EXIT[result.status]


async def _run(session: Session, output: Output) -> Result | None:
    """The result, or None when the user quit."""
    quit_ = _on_interrupt(session)
    progress = progress_for(quiet=output.events)
    watching = asyncio.ensure_future(_watch(session, output, progress))
    quitting = asyncio.ensure_future(quit_.wait())
    try:
        await asyncio.wait((watching, quitting), return_when=asyncio.FIRST_COMPLETED)
        return None if not watching.done() else watching.result()
    finally:
        for task in (watching, quitting):
            task.cancel()
        await asyncio.gather(watching, quitting, return_exceptions=True)
        progress.close()


async def _watch(session: Session, output: Output, progress: Progress) -> Result | None:
    async with aclosing(session.events(progress.note)) as events:
        async for event in events:
            if output.events:
                sys.stdout.write(event.model_dump_json() + "\n")
                sys.stdout.flush()
            progress.show(event)
            if isinstance(event, Finished):
                return event.result
    return None


def _on_interrupt(session: Session) -> asyncio.Event:
    """Ctrl-C once stops and writes; twice sets the event that quits."""
    quit_ = asyncio.Event()
    pressed: list[int] = []

    def interrupted() -> None:
        pressed.append(1)
        if len(pressed) > 1:
            quit_.set()
        else:
            typer.echo("Stopping: writing with what there is. Ctrl-C again quits.", err=True)
            session.stop()

    # Windows event loops have no signal handlers; there Ctrl-C quits at once.
    with contextlib.suppress(NotImplementedError):
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, interrupted)
    return quit_


def _print(result: Result, output: Output) -> None:
    if output.as_json:
        typer.echo(result.model_dump_json())
    elif not output.events:
        print_report(result.report)
    if output.file:
        write_output(result, output.file)
    where = output.file or Path(result.session_dir)
    typer.echo(f"{result.status}: {where}", err=True)

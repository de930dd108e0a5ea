"""The sessions running in this process, and their watchers. A marker file in a session's folder
tells the next server process to resume that session.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from pathlib import Path

from spadework.backend import backend_of
from spadework.errors import BudgetSpent, SessionNotFound, SpadeworkError
from spadework.events import Answered, Asked, Ended, Event, Finished, Notice, Started
from spadework.sessions.metrics.session_index import METADATA
from spadework.sessions.record.log import read_log
from spadework.sessions.record.records import end
from spadework.sessions.session import Session
from spadework.sessions.storage.files import session_folder
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.private_files import make_folder
from spadework.values import Result

#: A file with this name marks a session as run by a server.
SERVED = ".served"
#: Seconds to wait for another machine to confirm a cancellation.
CANCEL_SECONDS = 5.0


class Run:
    """A running session. Event number n is `recorded[n - 1]`, which is None for a damaged event.
    `notes` holds messages that are not recorded, each with the number of the event before it.
    """

    def __init__(self, session: Session, recorded: list[Event | None]) -> None:
        self.session = session
        self.recorded = recorded
        self.notes: list[tuple[int, Notice]] = []
        self.over = False
        self._more = asyncio.Event()

    @property
    def open_question(self) -> Asked | None:
        """The question waiting for the user's answer, or None."""
        recorded = (
            event for event in reversed(self.recorded) if isinstance(event, (Asked, Answered))
        )
        last = None if self.over else next(recorded, None)
        return last if isinstance(last, Asked) else None

    @property
    def result(self) -> Result | None:
        """The result, or None. The run ends shortly after the result is set."""
        ends = (
            event for event in reversed(self.recorded) if isinstance(event, (Started, Finished))
        )
        last = next(ends, None)
        return last.result if isinstance(last, Finished) else None

    @property
    def finished(self) -> bool:
        """True if there is a result."""
        return self.result is not None

    def tell(self, event: Event) -> None:
        """Record an event and send it to all watchers."""
        self.recorded.append(event)
        self._wake()

    def note(self, text: str) -> None:
        """Send current watchers a message that is not recorded."""
        self.notes.append((len(self.recorded), Notice(text=text)))
        self._wake()

    def end(self) -> None:
        """End the stream of events."""
        self.over = True
        self._wake()

    async def watch(self, after: int) -> AsyncGenerator[tuple[int, Event], None]:
        """Yield (number, event) pairs after number `after`. A Notice repeats the last number."""
        n, noted = after, 0
        while True:
            more = self._more
            while noted < len(self.notes):
                noted += 1
                at, note = self.notes[noted - 1]
                if at >= n:
                    yield n, note
            while n < len(self.recorded):
                n += 1
                if (event := self.recorded[n - 1]) is not None:
                    yield n, event
            if self.over:
                return
            await more.wait()

    def _wake(self) -> None:
        self._more.set()
        self._more = asyncio.Event()


class Runs:
    """The runs of this process. They can be resumed after `close`."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._runs: dict[str, Run] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, session: Session) -> Run:
        """Start a session unless it is running or finished, and return its run."""
        if session.session_id in self._runs:
            return self._runs[session.session_id]
        run = Run(session, read_log(session.folder))
        session.seen = len(run.recorded)
        if run.finished:
            (session.folder / SERVED).unlink(missing_ok=True)
            run.end()
            return run
        self._runs[session.session_id] = run
        self._tasks[session.session_id] = task = asyncio.create_task(self._drive(run))
        task.add_done_callback(lambda task: self._broke(run, task))
        return run

    async def take_up(self) -> list[Run]:
        """Resume the sessions that the previous server left unfinished."""
        runs = []
        for mark in sorted((self.settings.home / "sessions").glob(f"*/{SERVED}")):
            with suppress(SpadeworkError, OSError):
                runs.append(self.start(self._resumed(mark.parent.name)))
        return runs

    async def find(self, session_id: str) -> None:
        """Look for a session that workers are running, and start watching it in this process."""
        backend = backend_of(self.settings)
        if session_id not in self._runs and await backend.find(self.settings, session_id):
            self.start(await asyncio.to_thread(self._resumed, session_id))

    def _resumed(self, session_id: str) -> Session:
        home, common = self.settings.home, self.settings.common
        return Session.resume(session_id, home=home, common=common)

    def find_running(self, session_id: str) -> Run | None:
        """Return a session's run in this process, or None."""
        return self._runs.get(session_id)

    def current(self) -> list[Run]:
        """Return all runs, newest first."""
        return list(reversed(self._runs.values()))

    def written(self) -> bool:
        """Return whether the next server process can resume every run."""
        runs = self._runs.values()
        return all((run.session.folder / METADATA).exists() and not run.finished for run in runs)

    async def watch(
        self, session_id: str, after: int = 0
    ) -> AsyncGenerator[tuple[int, Event], None]:
        """Yield a session's events after number `after`. Raises SessionNotFound."""
        if run := self._runs.get(session_id):
            async with aclosing(run.watch(after)) as events:
                async for numbered in events:
                    yield numbered
            return
        folder = session_folder(self.settings.home, session_id)
        for n, event in enumerate(await on_disk(read_log, folder), 1):
            if n > after and event is not None:
                yield n, event

    async def cancel(self, session_id: str) -> None:
        """Cancel a run. It can be resumed later. Raises SessionNotFound."""
        if session_id not in self._tasks:
            raise SessionNotFound(f"Session {session_id[:80]!r} is not running here.")
        run, task = self._runs[session_id], self._tasks[session_id]
        if await backend_of(run.session.settings).cancel(run.session):
            await asyncio.wait({task}, timeout=CANCEL_SECONDS)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        if not run.over:
            await self._ended(run, Ended(how="cancelled"))

    async def close(self) -> None:
        """Stop all runs."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for run in list(self._runs.values()):
            run.end()
        self._runs.clear()

    async def _drive(self, run: Run) -> None:
        session, loop = run.session, asyncio.get_running_loop()

        def notify(text: str) -> None:
            loop.call_soon_threadsafe(run.note, text)

        try:
            await on_disk(_mark, session.folder / SERVED)
            async with aclosing(session.events(progress=notify)) as events:
                async for event in events:
                    run.tell(event)
                    # A run by workers ends with Ended if it fails or is cancelled.
                    if isinstance(event, Finished | Ended):
                        break
            await self._forget(run)
        except (SpadeworkError, BudgetSpent, OSError) as error:
            hint = getattr(error, "hint", "")
            await self._ended(run, Ended(how="failed", text=f"{error} {hint}".strip()))

    def _broke(self, run: Run, task: asyncio.Task[None]) -> None:
        if task.cancelled() or (fault := task.exception()) is None:
            return
        log = logging.getLogger(__name__)
        log.error("Session %s broke", run.session.session_id, exc_info=fault)
        said = f"spadework failed with an internal error ({type(fault).__name__})."
        run.tell(Ended(how="failed", text=said))
        run.end()
        self._runs.pop(run.session.session_id, None)
        self._tasks.pop(run.session.session_id, None)

    async def _ended(self, run: Run, event: Ended) -> None:
        if not run.session.elsewhere:
            with suppress(OSError):
                await on_disk(end, run.session.folder, event)
        run.tell(event)
        await self._forget(run)

    async def _forget(self, run: Run) -> None:
        with suppress(OSError):  # a leftover marker is harmless: finished sessions are not rerun
            await on_disk((run.session.folder / SERVED).unlink, missing_ok=True)
        run.end()
        self._runs.pop(run.session.session_id, None)
        self._tasks.pop(run.session.session_id, None)


def _mark(path: Path) -> None:
    make_folder(path.parent)
    path.touch(mode=0o600)

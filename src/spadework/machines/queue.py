"""Queue sessions for workers with procrastinate, and detect dead workers. When a worker's
heartbeats stop, its sessions get new jobs.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from procrastinate import App, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued, AppNotOpen, ConnectorException
from procrastinate.jobs import Status
from psycopg import OperationalError

from spadework.machines.database import AWAY_SECONDS, LOST, RECONNECT_SECONDS, Database
from spadework.tools.stores.private_files import DatabaseDown

QUEUE, TASK = "sessions", "spadework.research"
BEAT_SECONDS = 3.0
#: Seconds until a silent worker counts as dead. At 15, live workers on two busy cores counted as
#: dead (docs/decisions/queue.md).
LEASE_SECONDS = 30.0
#: Seconds between sweeps for orphaned sessions.
SWEEP_SECONDS = 3.0
LOOK_SECONDS = 5.0
#: Seconds that a stopping worker gives its sessions to end.
STOP_SECONDS = 5.0
DRAIN_LOOK_SECONDS = 0.2
SWEEP_LOCK = 0x5AFE
#: Waiting or running sessions without a job, except those held back by their user's limit.
_ORPHANS = (
    "SELECT sessions.id, sessions.run, coalesce(queued.ahead, 0) FROM sessions"
    " LEFT JOIN queued ON queued.id = sessions.id"
    " WHERE sessions.state IN ('waiting', 'running') AND NOT coalesce(queued.held_back, false)"
    " AND NOT EXISTS (SELECT 1 FROM procrastinate_jobs WHERE procrastinate_jobs.lock = sessions.id"
    " AND procrastinate_jobs.status IN ('todo', 'doing')) ORDER BY sessions.submitted_at"
)
_QUEUED = "SELECT ahead FROM queued WHERE id = %s AND NOT held_back"
#: The more runs of the same user are ahead of a job, the lower its priority.
_REORDER = (
    "UPDATE procrastinate_jobs AS job SET priority = -queued.ahead FROM queued"
    " WHERE job.lock = queued.id AND job.status = 'todo' AND job.priority <> -queued.ahead"
)
#: A started job counts as lost if no worker takes its session within this many seconds.
UNHEARD_SECONDS = 60.0
_UNHEARD = (
    "SELECT job.id FROM procrastinate_jobs AS job JOIN sessions ON sessions.id = job.lock"
    " WHERE job.status = 'doing' AND sessions.state IN ('waiting', 'running')"
    " AND (SELECT max(told.at) FROM procrastinate_events AS told"
    " WHERE told.job_id = job.id AND told.type = 'started')"
    " BETWEEN sessions.changed_at AND now() - make_interval(secs => %s)"
)
_log = logging.getLogger(__name__)
Run = Callable[[str], Awaitable[None]]
#: A worker that is shutting down sends its own heartbeats, because its cancelled queue no longer
#: sends any.
_BEAT = (
    "UPDATE procrastinate_workers SET last_heartbeat = now() WHERE id IN (SELECT worker_id"
    " FROM procrastinate_jobs WHERE status = 'doing' AND lock = ANY(%s))"
)


@dataclass
class Leaving:
    """Describes how a worker shuts down. Once `requested` is set, the worker takes no new sessions,
    and its runs get `seconds` to finish. `idle` returns how many runs the worker need not wait
    for.
    """

    seconds: float = 0.0
    idle: Callable[[], int] = lambda: 0
    requested: asyncio.Event = field(default_factory=asyncio.Event)


class Queue:
    """The queue of sessions in a database. A worker calls `run` for each session that it takes."""

    def __init__(self, database: Database, run: Run | None = None) -> None:
        self._database = database
        pool: dict[str, Any] = {"min_size": 1, "max_size": 2, "timeout": AWAY_SECONDS}
        pool["reconnect_timeout"] = RECONNECT_SECONDS
        self._app = App(connector=PsycopgConnector(conninfo=database.conninfo, **pool))
        self._ended = asyncio.Event()
        self._running: dict[str, asyncio.Task[None]] = {}

        async def research(session_id: str) -> None:
            assert run is not None
            self._running[session_id] = running = asyncio.ensure_future(run(session_id))
            try:
                await running
            finally:
                self._running.pop(session_id, None)
                self._ended.set()

        self._task = self._app.task(name=TASK, queue=QUEUE)(research)

    async def put(self, session_id: str) -> None:
        """Enqueue a session. At its user's limit, `sweep` does so later. Raises DatabaseDown."""
        async with self._app.open_async(self._database.pool):
            for (ahead,) in await self._database.ask(_QUEUED, (session_id,)):
                await self._put(session_id, ahead)

    async def _put(self, session_id: str, ahead: int) -> None:
        job = self._task.configure(lock=session_id, queueing_lock=session_id, priority=-ahead)

        async def defer() -> None:
            try:
                with suppress(AlreadyEnqueued):
                    await job.defer_async(session_id=session_id)
            except ConnectorException as error:
                raise OperationalError(str(error.__cause__ or error)) from error

        await self._database.retry(defer)

    async def work(self, name: str, most: int, leaving: Leaving | None = None) -> None:
        """Run at most `most` sessions at once until cancelled or `leaving` is requested. Other
        workers continue the unfinished sessions.
        """
        leaving = leaving or Leaving()
        asyncio.get_running_loop().set_exception_handler(_tell_unheard)
        # Otherwise, procrastinate would log tracebacks of database failures that are retried.
        logging.getLogger("procrastinate").setLevel(logging.CRITICAL)
        sweeping = asyncio.create_task(self._sweep_on())
        try:
            async with self._app.open_async():
                working = asyncio.create_task(self._keep_working(name, most, leaving))
                request = asyncio.create_task(leaving.requested.wait())
                try:
                    await asyncio.wait((working, request), return_when=asyncio.FIRST_COMPLETED)
                    if working.done():  # raise the worker's error
                        working.result()
                    working.cancel()  # take no new sessions
                    await self._drain(working, leaving)
                finally:
                    request.cancel()
                    await self._stop(working)
        finally:
            sweeping.cancel()
            await asyncio.gather(sweeping, return_exceptions=True)

    async def _drain(self, working: asyncio.Task[None], leaving: Leaving) -> None:
        until, beat = time.monotonic() + leaving.seconds, 0.0
        while time.monotonic() < until and len(self._running) > leaving.idle():
            if time.monotonic() > beat:
                beat = time.monotonic() + BEAT_SECONDS
                with suppress(DatabaseDown):
                    await self._database.ask(_BEAT, ([*self._running],))
            await asyncio.wait((working,), timeout=DRAIN_LOOK_SECONDS)

    async def _stop(self, working: asyncio.Task[None]) -> None:
        """Stop sessions and close their jobs, so that other workers continue them at once."""
        if not working.cancelling():
            working.cancel()
        for running in self._running.values():
            running.cancel()
        await asyncio.wait((working,), timeout=STOP_SECONDS)

    async def _keep_working(self, name: str, most: int, leaving: Leaving) -> None:
        while True:
            with suppress(ConnectorException, *LOST):  # the database is down
                await self._app.run_worker_async(
                    queues=[QUEUE],
                    name=name,
                    concurrency=most,
                    fetch_job_polling_interval=LOOK_SECONDS,
                    shutdown_graceful_timeout=leaving.seconds + STOP_SECONDS,
                    delete_jobs="always",
                    install_signal_handlers=False,
                    update_heartbeat_interval=BEAT_SECONDS,
                    stalled_worker_timeout=LEASE_SECONDS,
                )
            _log.warning("Waiting for the queue's database")
            await asyncio.sleep(SWEEP_SECONDS)

    async def _sweep_on(self) -> None:
        calm = time.monotonic() + 2 * BEAT_SECONDS
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(SWEEP_SECONDS):
                    await self._ended.wait()
            self._ended.clear()
            try:
                if time.monotonic() > calm:
                    await self.sweep()
            except (ConnectorException, DatabaseDown, AppNotOpen, *LOST):
                calm = time.monotonic() + LEASE_SECONDS

    async def sweep(self) -> None:
        """Close lost jobs, requeue sessions without a job, and update the priorities. Only one
        process does this at a time.
        """
        async with self._database.pool.connection() as connection, connection.transaction():
            cursor = await connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (SWEEP_LOCK,))
            row = await cursor.fetchone()
            if not row or not row[0]:
                return
            jobs = self._app.job_manager
            stalled = await jobs.get_stalled_jobs(seconds_since_heartbeat=LEASE_SECONDS)
            unheard = await self._database.ask(_UNHEARD, (UNHEARD_SECONDS,))
            for job in {*(job.id for job in stalled if job.id), *(job for (job,) in unheard)}:
                await jobs.finish_job_by_id_async(job, Status.FAILED, delete_job=True)
            for session_id, run, ahead in await self._database.ask(_ORPHANS):
                if run:
                    _log.warning("Session %s lost its worker and is queued again", session_id)
                await self._put(session_id, ahead)
            await self._database.ask(_REORDER)


def _tell_unheard(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log queue errors on one line, without a traceback."""
    if isinstance(error := context.get("exception"), ConnectorException):
        said = str(error.__cause__ or error).partition("\n")[0]
        _log.warning("Error in the queue: %s", said)
    else:
        loop.default_exception_handler(context)

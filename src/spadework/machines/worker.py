"""Run sessions that wait in the database, and delete local copies of deleted sessions."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from spadework.errors import BudgetSpent, DiskFailed, SessionBusy, SessionError, SpadeworkError
from spadework.events import Answered, Ended, Finished, read_event
from spadework.machines.session_lookup import bring_to_run, drop
from spadework.machines.session_watch import told_now
from spadework.machines.shared_limits import home_of, shared_sessions
from spadework.sessions import admission
from spadework.sessions.brief import Brief
from spadework.sessions.metrics.session_index import METADATA
from spadework.sessions.session import Session
from spadework.sessions.storage.files import is_held
from spadework.sessions.users import People
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.journal_rows import CLAIM
from spadework.tools.stores.private_files import ClaimLost, DatabaseDown, is_session_id

if TYPE_CHECKING:
    from pathlib import Path

    from spadework.machines.session_rows import Kept, SessionClaim, SharedSessions


#: A session that workers have claimed more often than this has probably crashed them.
MOST_RUNS = 20
_log = logging.getLogger(__name__)


async def run_one(shared: SharedSessions, settings: Settings, session_id: str, worker: str) -> None:
    """Run a session to its end or takeover. After a temporary fault, leave it to other workers."""
    [outcome] = await asyncio.gather(
        _claim(shared, settings, session_id, worker), return_exceptions=True
    )
    if isinstance(outcome, DiskFailed | SessionBusy | OSError):
        _log.warning("Leaving session %s for the next worker: %s", session_id, outcome)
    elif isinstance(outcome, SpadeworkError | BudgetSpent):
        hint = getattr(outcome, "hint", "")
        await _fail(shared, session_id, f"{outcome} {hint}".strip())
    elif isinstance(outcome, Exception):  # report internal errors to the watchers
        _log.error("Session %s broke", session_id, exc_info=outcome)
        said = f"spadework failed with an internal error ({type(outcome).__name__})."
        await _fail(shared, session_id, said)


async def _claim(shared: SharedSessions, settings: Settings, session_id: str, worker: str) -> None:
    kept = await shared.find(session_id)
    if kept is None:
        return
    home = settings.with_(home=home_of(kept.owner, settings)).within(settings.common)
    if await on_disk(is_held, home.home / "sessions" / session_id):
        raise SessionBusy("another process on this machine is working on it")
    claim = await shared.take(session_id, worker)
    if claim is None:
        return
    if claim.run > MOST_RUNS:
        raise SessionError(f"The session was started {MOST_RUNS} times and never finished.")
    folder = await bring_to_run(shared, home, kept)
    if await _run(shared, claim, _session(home, kept, folder)):
        await claim.end("finished", await on_disk((folder / METADATA).read_text))


async def _fail(shared: SharedSessions, session_id: str, text: str) -> None:
    await shared.end(session_id, "failed", told_now(Ended(how="failed", text=text)))


def _session(settings: Settings, kept: Kept, folder: Path) -> Session:
    asked = json.loads(kept.metadata)["settings"] | {"home": settings.home}
    session = Session.resume(kept.id, settings=settings.with_(**asked))
    brief = Brief.of(json.loads(kept.brief))
    files = tuple(str(folder / name) for name in brief.attachments)
    session.brief = replace(brief, attachments=files)
    return session


async def _run(shared: SharedSessions, claim: SessionClaim, session: Session) -> bool:
    token = CLAIM.set(claim)
    running = asyncio.create_task(_to_its_end(session))
    heeding = asyncio.create_task(_heed(shared, claim, session))
    try:
        await asyncio.wait((running, heeding), return_when=asyncio.FIRST_COMPLETED)
        if heeding.done():  # raise the error of `_heed`, such as ClaimLost
            heeding.result()
        return running.result()
    finally:
        CLAIM.reset(token)
        for task in (running, heeding):
            task.cancel()
        await asyncio.gather(running, heeding, return_exceptions=True)


async def _to_its_end(session: Session) -> bool:
    finished = False
    async with aclosing(session.events()) as events:
        async for event in events:
            finished = finished or isinstance(event, Finished)
    return finished


async def _heed(shared: SharedSessions, claim: SessionClaim, session: Session) -> None:
    from spadework.machines.database import SIGNALS

    done, numbered = 0, await shared.events(claim.session_id, 0)
    answered = max(
        (n for n, line in numbered if isinstance(read_event(line.encode()), Answered)), default=0
    )
    with shared.database.listening.heard(SIGNALS, claim.session_id) as changed:
        while True:
            taken, signals = await shared.signals(claim.session_id, done)
            if taken != claim.run:
                claim.lost = True
                raise ClaimLost(claim.session_id)
            for signal in signals:
                done = signal.number
                if signal.kind == "stop":
                    session.stop()
                elif signal.kind == "answer" and signal.events >= answered:
                    session.answer(json.loads(signal.told))
            await changed()


LOOK_SECONDS = 600.0


async def work(
    settings: Settings, most: int, ready: Callable[[str], None], drain: asyncio.Event | None = None
) -> None:
    """Call `ready` with a message, then run up to `most` sessions at once until cancelled. Once
    `drain` is set, take no new sessions, and give running ones `drain_seconds` to end. Raises
    SettingsError.
    """
    name = f"{socket.gethostname()}-{os.getpid()}"
    async with shared_sessions(settings) as shared:
        from spadework.machines.queue import Leaving, Queue

        # A worker that shuts down need not wait for sessions that wait for a user or for admission,
        # because they can wait on another worker.
        def idle() -> int:
            return admission.here().out + admission.here().queue_length

        leaving = Leaving(settings.drain_seconds, idle, drain or asyncio.Event())

        async def run(session_id: str) -> None:
            await run_one(shared, settings, session_id, name)

        tidying = asyncio.create_task(keep_tidy(shared, settings))
        try:
            ready(f"{name} takes sessions from {shared.database.where}")
            await Queue(shared.database, run).work(name, most, leaving)
        finally:
            tidying.cancel()
            await asyncio.gather(tidying, return_exceptions=True)


async def keep_tidy(shared: SharedSessions, settings: Settings) -> None:
    """Call `tidy` at intervals until cancelled."""
    while True:
        try:
            await tidy(shared, settings)
        except DatabaseDown as error:
            _log.warning("Deleted sessions may remain on this machine: %s", error.strerror)
        await asyncio.sleep(LOOK_SECONDS)


async def tidy(shared: SharedSessions, settings: Settings) -> None:
    """Delete local copies of deleted sessions. Raises DatabaseDown."""
    people = People(settings)
    for name in await asyncio.to_thread(lambda: [*people.names()]):
        own = people.settings_of(name)
        names = await asyncio.to_thread(_names, own.home / "sessions")
        await drop(own, await shared.deleted(names))


def _names(folder: Path) -> list[str]:
    try:
        return [path.name for path in folder.iterdir() if is_session_id(path.name)]
    except OSError:
        return []

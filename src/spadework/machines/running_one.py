"""Running one submitted session, following its user's commands; a process that loses it stops."""

from __future__ import annotations

import asyncio
import json
import logging
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

from spadework.errors import BudgetSpent, DiskFailed, SessionBusy, SessionError, SpadeworkError
from spadework.events import Answered, Ended, Finished, read_event
from spadework.machines.session_copy import bring_to_run
from spadework.machines.session_watch import told_now
from spadework.machines.shared import home_of
from spadework.sessions.brief import Brief
from spadework.sessions.session import Session
from spadework.sessions.storage.lock import is_held
from spadework.sessions.storage.session_file import METADATA
from spadework.settings import Settings
from spadework.tools.stores.disk import on_disk
from spadework.tools.stores.disk_faults import ClaimLost
from spadework.tools.stores.journal_rows import CLAIM

if TYPE_CHECKING:
    from pathlib import Path

    from spadework.machines.postgres.session_claim import SessionClaim
    from spadework.machines.postgres.session_rows import Kept, SharedSessions


#: A session taken this often has crashed its workers, and is not taken again.
MOST_RUNS = 20
_log = logging.getLogger(__name__)


async def run_one(shared: SharedSessions, settings: Settings, session_id: str, worker: str) -> None:
    """Run a session to its end, or until it is taken over. After a transient fault (database, disk,
    another local process) it waits for the next worker.
    """
    [outcome] = await asyncio.gather(
        _claim(shared, settings, session_id, worker), return_exceptions=True
    )
    if isinstance(outcome, DiskFailed | SessionBusy | OSError):
        _log.warning("Session %s is left: %s", session_id, outcome)
    elif isinstance(outcome, SpadeworkError | BudgetSpent):
        hint = getattr(outcome, "hint", "")
        await _fail(shared, session_id, f"{outcome} {hint}".strip())
    elif isinstance(outcome, Exception):  # our fault: tell the watchers
        _log.error("Session %s broke", session_id, exc_info=outcome)
        said = f"Something in spadework itself failed ({type(outcome).__name__})."
        await _fail(shared, session_id, said)


async def _claim(shared: SharedSessions, settings: Settings, session_id: str, worker: str) -> None:
    kept = await shared.find(session_id)
    if kept is None:
        return
    home = settings.with_(home=home_of(kept.owner, settings), common_home=settings.common)
    if await on_disk(is_held, home.home / "sessions" / session_id):
        raise SessionBusy("another process of this machine works on it")
    claim = await shared.take(session_id, worker)
    if claim is None:
        return
    if claim.run > MOST_RUNS:
        raise SessionError(f"It was begun {MOST_RUNS} times and never ended.")
    folder = await bring_to_run(shared, home, kept)
    if await _run(shared, claim, _session(home, kept, folder)):
        await claim.end("finished", await on_disk((folder / METADATA).read_text))


async def _fail(shared: SharedSessions, session_id: str, text: str) -> None:
    await shared.end(session_id, "failed", told_now(Ended(how="failed", text=text)))


def _session(settings: Settings, kept: Kept, folder: Path) -> Session:
    """Return the session as submitted, with its attachments at their local paths."""
    asked = json.loads(kept.metadata)["settings"]
    here = {"home": settings.home, "common_home": settings.common}
    session = Session.resume(kept.id, settings=settings.with_(**{**asked, **here}))
    brief = Brief.of(json.loads(kept.brief))
    files = tuple(str(folder / name) for name in brief.attachments)
    session.brief = replace(brief, attachments=files)
    return session


async def _run(shared: SharedSessions, claim: SessionClaim, session: Session) -> bool:
    """Run the session; return whether it has ended."""
    token = CLAIM.set(claim)
    running = asyncio.create_task(_to_its_end(session))
    heeding = asyncio.create_task(_heed(shared, claim, session))
    try:
        await asyncio.wait((running, heeding), return_when=asyncio.FIRST_COMPLETED)
        if heeding.done():  # with what ends the run
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
    """Pass on the user's commands, until it is taken over or cancelled."""
    from spadework.machines.postgres.notifications import SIGNALS

    done, told = 0, await shared.events(claim.session_id, 0)
    answered = max(
        (n for n, line in told if isinstance(read_event(line.encode()), Answered)), default=0
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

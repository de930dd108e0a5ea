"""Replay a finished session from its recording, without a network or a model."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
import tempfile
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from spadework.errors import SessionError, SessionUnreadable
from spadework.events import Event
from spadework.graph.parts import Opened, Replay
from spadework.sessions.brief import Brief
from spadework.sessions.metrics.session_index import METADATA
from spadework.sessions.session import Session
from spadework.sessions.storage.files import JOURNAL, read_metadata, read_result, session_folder
from spadework.settings import Settings
from spadework.tools.stores.cassette import Missing, Recording
from spadework.tools.stores.exchanges import Request
from spadework.values import Result


@dataclass(frozen=True)
class Replayed:
    """The results of a replay (`result`) and of the original run (`before`).
    - `replayed`: how many requests were answered from the recording
    - `new`: how many requests were answered by the new model
    - `missing`: the requests that had no recorded answer
    """

    result: Result
    before: Result
    replayed: int
    new: int
    missing: tuple[Missing, ...]

    @property
    def same(self) -> bool:
        """True if both reports are identical."""
        return self.result.report == self.before.report


async def replay(
    home: Path,
    session_id: str,
    new_model: Settings | None = None,
    watch: Callable[[Event], None] | None = None,
) -> Replayed:
    """Rerun a finished session in a temporary home folder. The model in `new_model` answers
    requests that were not recorded. `watch` receives each event. Raises SessionNotFound,
    SessionUnreadable, or SessionError if the session is unfinished or has no recording.
    """
    folder = session_folder(home, session_id)
    before = await asyncio.to_thread(read_result, folder)
    if before is None:
        hint = f"To continue it, run `spadework resume {session_id}`."
        raise SessionError(f"Session {session_id} is not finished.", hint=hint)
    read_metadata(folder)
    with tempfile.TemporaryDirectory(prefix="spadework-replay-") as temporary:
        own = Path(temporary)
        await asyncio.to_thread(_copy, folder, own)
        try:
            (own / JOURNAL).touch()  # SQLite opens an empty file as an empty database.
            recording = await Recording.open(own / JOURNAL)
            async with aclosing(recording):
                session = await _session(own, session_id, recording)
                result = await session.replaying(Replay(recording, new_model)).result(watch)
        except sqlite3.DatabaseError as error:
            raise SessionUnreadable(
                f"Session {session_id} cannot be read: {JOURNAL}: {error}."
            ) from None
    lacking = recording.missing
    return Replayed(result, before, recording.replayed, recording.new, tuple(lacking))


async def _session(home: Path, session_id: str, recording: Recording) -> Session:
    told = await recording.noted(Request("opened", ""))
    brief = await recording.noted(Request("brief", ""))
    if told is None or brief is None:
        why = "exports omit recordings, and some sessions make none"
        raise SessionError(f"Session {session_id} has no recording: {why}.")
    settings = Opened.model_validate(told).settings_again(home)
    session = Session.resume(session_id, settings=settings)
    session.brief = Brief.of(brief)
    return session


def _copy(folder: Path, home: Path) -> None:
    own = home / "sessions" / folder.name
    own.mkdir(parents=True)
    shutil.copy(folder / METADATA, own)
    for name in (JOURNAL, f"{JOURNAL}-wal"):
        if (folder / name).is_file():
            shutil.copy(folder / name, home)

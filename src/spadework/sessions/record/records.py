"""A session's files, derived from its record."""

from __future__ import annotations

import asyncio
import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from spadework.budget import Limits
from spadework.errors import SessionError
from spadework.events import Assessed, Distilled, Ended, Event, Finished, Planned, Proven, Troubled
from spadework.graph.parts import SECRETS
from spadework.sessions.brief import Brief
from spadework.sessions.metrics.session_index import LOG, METADATA
from spadework.sessions.record.course import Course
from spadework.sessions.record.log import LOGS, Logs, log_event, log_lines, read_log
from spadework.sessions.record.work_products import (
    REPORT,
    as_file,
    drawn_ledger,
    drawn_metadata,
    drawn_pages,
    drawn_progress,
    drawn_report,
    drawn_work,
    stamp_name,
)
from spadework.sessions.storage.disk import Late
from spadework.sessions.storage.files import (
    LEDGER,
    PROGRESS,
    VERSION,
    Metadata,
    hold_session,
    read_metadata,
    read_progress,
    session_folder,
    whole_result,
)
from spadework.settings import Settings
from spadework.tools.stores.disk import DiskHangs, on_disk
from spadework.tools.stores.journal import Record
from spadework.tools.stores.journal_rows import claim_on
from spadework.tools.stores.plan_store import PlanStore
from spadework.tools.stores.private_files import write_atomically
from spadework.values import Result


class Records:
    """Writes a session's files from the events it receives."""

    def __init__(self, folder: Path, metadata: Metadata, logs: Logs, *, fresh: bool) -> None:
        self.folder = folder
        self.metadata = metadata
        self._fresh = fresh
        self.late = Late(folder.name)
        self._logs = logs
        #: The result passed to `finish`, or None before that.
        self._result: Result | None = None
        self.record = Record(self._append)

    @classmethod
    async def begin(cls, folder: Path, brief: Brief, settings: Settings, limits: Limits) -> Self:
        """Open a session's records. If it is new, write its metadata. Raises SessionUnreadable."""
        fresh = not (folder / METADATA).exists()
        try:
            metadata = await begin_metadata(folder, brief, settings, limits)
        except OSError:
            if fresh:
                await on_disk(shutil.rmtree, folder, ignore_errors=True)
            raise
        logs = Logs(folder, settings.log)
        records = cls(folder, metadata, logs, fresh=fresh)
        if fresh:
            records.late.left = lambda: 60 * limits.minutes
            await records.progressed()
        return records

    async def take_up(self) -> None:
        """Load the recorded events. Call this once, while the session is locked."""
        self.record.recall(event for event in await on_disk(read_log, self.folder) if event)
        await self.late.write(LOGS, self._logs.redraw, self.record.events)
        if evidence := self.course.evidence:
            await self._write(LEDGER, drawn_ledger(evidence))

    @property
    def proven(self) -> frozenset[str]:
        """The ids of the recorded evidence."""
        told = (event for event in self.record.events if isinstance(event, Proven))
        return frozenset(entry.id for event in told for entry in event.evidence)

    @property
    def course(self) -> Course:
        """The events of the run so far."""
        return Course(self.record.events)

    async def discard(self) -> None:
        """Delete the session's folder if it is new. Call this if the session could not start."""
        if self._fresh:
            await on_disk(shutil.rmtree, self.folder, ignore_errors=True)

    async def saw(self, event: Event) -> None:
        """Update the files to reflect an event."""
        await self.record.written()
        await self.late.write(LOGS, self._logs.add, [event])
        if isinstance(event, Proven):
            await self._write(LEDGER, drawn_ledger(self.course.evidence))
        if isinstance(event, Planned | Assessed | Troubled | Finished):
            await self.progressed()
        # Until the first assessment, write the files after every Distilled event, so that the user
        # can see pages early.
        first = isinstance(event, Distilled) and not self.course.rounds
        if first or isinstance(event, Assessed):
            await self._draw()

    async def finish(self, result: Result) -> Path:
        """Write the final files, and return the report's path."""
        self._result = result
        self.late.try_again()
        for name, data in drawn_report(result, self.metadata).items():
            await self._write(name, data)
        # The last evidence may not have been written yet.
        await self._write(LEDGER, drawn_ledger(self.course.evidence))
        await self._draw()
        return self.folder / stamp_name(REPORT, self.metadata)

    async def _draw(self) -> None:
        course, result = self.course, self._result
        work: dict[str, bytes] = {}
        with suppress(TimeoutError, DiskHangs):
            async with asyncio.timeout(self.late.seconds):
                work = await on_disk(drawn_work, self.folder, course, self.metadata, result)
        for name, data in work.items():
            await self._write(name, data)
        self.metadata = drawn_metadata(course, self.metadata, result)
        await self._write(METADATA, as_file(self.metadata))

    async def progressed(self) -> None:
        """Write the progress file. Call this last: a final state means that all files exist."""
        await self._write(PROGRESS, as_file(drawn_progress(self.course, self._result)))

    async def _append(self, lines: bytes) -> None:
        if claim := claim_on(self.folder.name):
            await claim.tell(lines)
        await self.late.write(LOG, self._log, lines)

    async def _write(self, name: str, data: bytes) -> None:
        await self.late.write(name, self._put, name, data)

    def _put(self, name: str, data: bytes) -> None:
        self._there()
        write_atomically(self.folder / name, data)

    def _log(self, lines: bytes) -> None:
        self._there()
        log_lines(self.folder, lines)

    def _there(self) -> None:
        """Raise FileNotFoundError if the folder is gone, rather than recreate it."""
        (self.folder / METADATA).stat()


async def begin_metadata(
    folder: Path, brief: Brief, settings: Settings, limits: Limits
) -> Metadata:
    """Return a session's metadata, and write it if the session is new. Raises SessionUnreadable."""
    if (folder / METADATA).exists():
        return await on_disk(read_metadata, folder)
    # Store only settings that were given explicitly. On resuming, the others are read again from
    # the environment.
    kept = {
        name: value
        for name, value in settings.model_dump(mode="json").items()
        if name in settings.given - SECRETS
    }
    now = datetime.now().astimezone()
    metadata = Metadata(
        id=folder.name,
        version=VERSION,
        created_at=now.astimezone(UTC),
        utc_offset=round((now.utcoffset() or timedelta()).total_seconds() / 60),
        query=brief.question,
        attachments=brief.attachments,
        follows=brief.follows,
        wishes=brief.wishes,
        most_words=brief.most_words,
        kind=brief.kind,
        pages=brief.pages,
        settings=kept,
        limits=limits,
    )
    await on_disk(write_atomically, folder / METADATA, as_file(metadata))
    return metadata


def delete_session(home: Path, session_id: str) -> None:
    """Delete a session and its question's stored plans. Raises SessionNotFound or SessionBusy."""
    folder = session_folder(home, session_id)
    with hold_session(folder):
        # Allow damaged sessions to be deleted too.
        with suppress(SessionError):
            planned = (e.plan.question for e in read_log(folder) if isinstance(e, Planned))
            PlanStore(home / "plans").forget([read_metadata(folder).query, *planned])
        shutil.rmtree(folder)


def course_of(folder: Path) -> Course:
    """Return the recorded events of a session as a `Course`."""
    return Course(event for event in read_log(folder) if event is not None)


def draft_of(folder: Path) -> str:
    """Return a session's latest draft, or else a list of the pages tried ("" if there are none)."""
    course = course_of(folder)
    return course.draft or drawn_pages(course)


def end(folder: Path, event: Ended) -> None:
    """Record that a run ended without a result."""
    log_event(folder, event)
    course = course_of(folder)
    write_atomically(folder / PROGRESS, as_file(drawn_progress(course, course.result)))


def redraw(folder: Path, settings: Settings) -> list[str]:
    """Rewrite a session's files from its record, and return their names. Raises SessionBusy,
    SessionNotFound or SessionUnreadable.
    """
    with hold_session(folder):
        return _redrawn(folder, settings)


def end_drawing(folder: Path, settings: Settings, result: Result) -> None:
    """Complete the files of a run that was killed after producing its result. Ignore failures."""
    if read_progress(folder).state == result.status:
        return
    with suppress(SessionError, OSError), hold_session(folder):
        if course_of(folder).result is None:
            log_event(folder, Finished(result=result, after=result.timings.get("total")))
        _redrawn(folder, settings)


def _redrawn(folder: Path, settings: Settings) -> list[str]:
    metadata, course = read_metadata(folder), course_of(folder)
    result = course.result or whole_result(folder)
    drawn = drawn_work(folder, course, metadata, result)
    if course.evidence or result:
        drawn[LEDGER] = drawn_ledger(course.evidence)
    if result:
        drawn |= drawn_report(result, metadata)
    drawn[PROGRESS] = as_file(drawn_progress(course, result))
    for name, data in drawn.items():
        write_atomically(folder / name, data)
    known = drawn_metadata(course, metadata, result)
    write_atomically(folder / METADATA, as_file(known))
    logs = Logs(folder, settings.log)
    return sorted([*drawn, METADATA, *logs.redraw(course.events)])

"""The files of a session, drawn from its record as the run goes, or again later."""

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
from spadework.sessions.drawing.all_files import (
    REPORT,
    as_file,
    drawn_ledger,
    drawn_metadata,
    drawn_progress,
    drawn_report,
    drawn_work,
    stamp_name,
)
from spadework.sessions.drawing.search_files import drawn_pages
from spadework.sessions.record.course import Course
from spadework.sessions.record.log import LOGS, Logs, log_event, log_lines, read_log
from spadework.sessions.storage.disk import Late
from spadework.sessions.storage.files import (
    VERSION,
    Metadata,
    read_ledger,
    read_metadata,
    read_progress,
    session_folder,
    taken_over,
    whole_result,
)
from spadework.sessions.storage.lock import hold_session
from spadework.sessions.storage.session_file import LEDGER, LOG, METADATA, PROGRESS
from spadework.settings import Settings
from spadework.tools.stores.disk import DiskHangs, on_disk
from spadework.tools.stores.event_record import Record
from spadework.tools.stores.journal_rows import claim_on
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.plan_store import PlanStore
from spadework.values import Result


class Records:
    """Writes the files of one session. What is told of it is put into its `record`."""

    def __init__(self, folder: Path, metadata: Metadata, logs: Logs, *, fresh: bool) -> None:
        self.folder = folder
        #: What is known of the session as a whole by now.
        self.metadata = metadata
        self._fresh = fresh
        #: What could not be written in time.
        self.late = Late(folder.name)
        self._logs = logs
        #: What was handed over: events that come after it change nothing of that.
        self._result: Result | None = None
        self.record = Record(self._append)

    @classmethod
    async def begin(cls, folder: Path, brief: Brief, settings: Settings, limits: Limits) -> Self:
        """The records of a session, begun by what is known at first. Raises SessionUnreadable."""
        fresh = not (folder / METADATA).exists()
        try:
            metadata = await begin_metadata(folder, brief, settings, limits)
        except OSError:
            if fresh:
                await on_disk(shutil.rmtree, folder, ignore_errors=True)
            raise
        logs = Logs(folder, settings.log, as_json=settings.log_json)
        records = cls(folder, metadata, logs, fresh=fresh)
        if fresh:
            records.late.left = lambda: 60 * limits.minutes
            await records.progressed()
        return records

    async def take_up(self) -> None:
        """Know what was told before, and write the logs and the ledger anew: a kill may have come
        between a line of the record and what is drawn of it, and it will not be told again. Called
        once, by who holds the session from then on.
        """
        self.record.recall(event for event in await on_disk(read_log, self.folder) if event)
        await self.late.within(LOGS, self._logs.redraw, self.record.events)
        if evidence := self.course.evidence:
            await self._write(LEDGER, drawn_ledger(evidence))

    @property
    def proven(self) -> frozenset[str]:
        """The ids of the evidence that was told of."""
        told = (event for event in self.record.events if isinstance(event, Proven))
        return frozenset(entry.id for event in told for entry in event.evidence)

    @property
    def course(self) -> Course:
        """The course of the run so far."""
        return Course(self.record.events)

    async def discard(self) -> None:
        """Remove a session that could not begin; one that was taken up stays."""
        if self._fresh:
            await on_disk(shutil.rmtree, self.folder, ignore_errors=True)

    async def saw(self, event: Event) -> None:
        """Bring the session's files up to an event that was told, once it is written down."""
        await self.record.written()
        await self.late.within(LOGS, self._logs.add, [event])
        if isinstance(event, Proven):
            await self._write(LEDGER, drawn_ledger(self.course.evidence))
        if isinstance(event, Planned | Assessed | Troubled | Finished):
            await self.progressed()
        # The first pages are shown before they are judged.
        first = isinstance(event, Distilled) and not self.course.rounds
        if first or isinstance(event, Assessed):
            await self._draw()

    async def finish(self, result: Result) -> Path:
        """Write what is handed over and the closing metadata; the path of the report."""
        self._result = result
        self.late.try_again()
        for name, data in drawn_report(result, self.metadata).items():
            await self._write(name, data)
        if not self.proven:  # else it is there since the first was told
            await self._write(LEDGER, drawn_ledger([]))
        await self._draw()
        return self.folder / stamp_name(REPORT, self.metadata)

    async def _draw(self) -> None:
        """The work products and metadata by now; what takes too long is left to `redraw`."""
        course, result = self.course, self._result
        work: dict[str, bytes] = {}
        with suppress(TimeoutError, DiskHangs):
            async with asyncio.timeout(self.late.seconds):
                work = await on_disk(drawn_work, self.folder, course, self.metadata, result)
        for name, data in work.items():
            await self._write(name, data)
        self.metadata = drawn_metadata(self.folder, course, self.metadata, result)
        await self._write(METADATA, as_file(self.metadata))

    async def progressed(self) -> None:
        """How far the session is, written last: it tells if all files of a result are there."""
        await self._write(PROGRESS, as_file(drawn_progress(self.course, self._result)))

    async def _append(self, lines: bytes) -> None:
        if claim := claim_on(self.folder.name):
            await claim.tell(lines)
        await self.late.within(LOG, self._log, lines)

    async def _write(self, name: str, data: bytes) -> None:
        await self.late.within(name, self._put, name, data)

    def _put(self, name: str, data: bytes) -> None:
        self._there()
        write_atomically(self.folder / name, data)

    def _log(self, lines: bytes) -> None:
        self._there()
        log_lines(self.folder, lines)

    def _there(self) -> None:
        """Raises FileNotFoundError where the folder is gone: no half session is written."""
        (self.folder / METADATA).stat()


async def begin_metadata(
    folder: Path, brief: Brief, settings: Settings, limits: Limits
) -> Metadata:
    """What is known of a session, which is written down first of all, so that it can be taken up;
    what stands there where it has begun. Raises SessionUnreadable.
    """
    if (folder / METADATA).exists():
        return taken_over(await on_disk(read_metadata, folder))
    # Only what was asked for; what comes from the environment is that of the process that resumes.
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
    """Delete a session with all its files, and the plan that is kept of its question.

    Raises SessionNotFound, and SessionBusy while somebody works on it.
    """
    folder = session_folder(home, session_id)
    with hold_session(folder):
        # One that broke off before its question was written down, or is broken, goes as well.
        with suppress(SessionError):
            PlanStore(home / "plans", 0).forget(read_metadata(folder).query)
        shutil.rmtree(folder)


def course_of(folder: Path) -> Course:
    """The course of a session as far as it is told; its ledger is that of the file where the record
    is from before there were times.
    """
    events = [event for event in read_log(folder) if event is not None]
    course = Course(events)
    return course if course.timed else Course(events, read_ledger(folder))


def draft_of(folder: Path) -> str:
    """The answer of a session as far as it stands, also of a killed one: before anything is judged
    the pages that were read; "" before any.
    """
    course = course_of(folder)
    return course.draft or drawn_pages(course)


def end(folder: Path, event: Ended) -> None:
    """Tell in its record, and in its progress, that a run has ended without a result."""
    log_event(folder, event)
    course = course_of(folder)
    write_atomically(folder / PROGRESS, as_file(drawn_progress(course, course.result)))


def redraw(folder: Path, settings: Settings) -> list[str]:
    """Draw all files of a session that nobody works on anew, logs as the settings ask for them.
    Returns their names.

    Raises SessionBusy, SessionNotFound, SessionUnreadable.
    """
    with hold_session(folder):
        return _redrawn(folder, settings)


def end_drawing(folder: Path, settings: Settings, result: Result) -> None:
    """Draw what a run that was killed with its result written down has left: its progress, which is
    drawn last, tells. Where that cannot be, the result is there all the same.
    """
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
    known = drawn_metadata(folder, course, metadata, result)
    write_atomically(folder / METADATA, as_file(known))
    logs = Logs(folder, settings.log, as_json=settings.log_json)
    return sorted([*drawn, METADATA, *logs.redraw(course.events)])

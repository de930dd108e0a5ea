"""`spadework sessions redraw`: the files of a session drawn anew from its record."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from spadework.errors import SessionError
from spadework.events import Ended, Finished
from spadework.sessions.course import Course
from spadework.sessions.drawing.all_files import (
    as_file,
    drawn_ledger,
    drawn_metadata,
    drawn_progress,
    drawn_report,
    drawn_work,
)
from spadework.sessions.drawing.search_files import drawn_pages
from spadework.sessions.file_names import LEDGER, METADATA, PROGRESS
from spadework.sessions.files import read_ledger, read_metadata, read_progress, whole_result
from spadework.sessions.lock import hold_session
from spadework.sessions.log import log_event, read_log
from spadework.sessions.logs import Logs
from spadework.settings import Settings
from spadework.tools.stores.page_store import write_atomically
from spadework.values import Result


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

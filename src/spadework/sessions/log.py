"""The record of a session on the disk: every event as one line of JSON, so that who comes late, or
back, sees what happened, and all other files can be drawn from it; line n is event n.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from spadework.events import VERSION, Ended, Event, read_event
from spadework.sessions.file_names import LOG
from spadework.sessions.session_file import readable_bytes


def log_event(folder: Path, event: Event) -> None:
    """Append an event that happened now, outside of a run."""
    timed = event.model_copy(update={"v": VERSION, "at": datetime.now(UTC)})
    log_lines(folder, timed.model_dump_json().encode() + b"\n")


def log_lines(folder: Path, lines: bytes) -> None:
    """Append lines, on a new line even where a killed process has left part of one."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(folder / LOG, flags, 0o600), "ab+") as file:
        end = os.lseek(file.fileno(), 0, os.SEEK_END)
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
            lines = b"\n" + lines
        file.write(lines)


def read_log(folder: Path) -> list[Event | None]:
    """All events so far; None for a line that is none, such as one cut short. [] without a log."""
    return [_event(line) for line in readable_bytes(folder, LOG).splitlines()]


def was_cancelled(folder: Path) -> bool:
    """Whether the last thing that has happened in a session is that it was cancelled."""
    last = next((event for event in reversed(read_log(folder)) if event is not None), None)
    return isinstance(last, Ended) and last.how == "cancelled"


def _event(line: bytes) -> Event | None:
    try:
        return read_event(line)
    except ValidationError:
        return None

"""A session's record (one event per line) and its logs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import ValidationError

from spadework.events import (
    VERSION,
    Asked,
    Assessed,
    Called,
    Cleaned,
    Ended,
    Event,
    Finished,
    Planned,
    Read,
    Reading,
    Scored,
    Searched,
    Selected,
    Started,
    Timed,
    Troubled,
    Unanswered,
    read_event,
)
from spadework.sessions.metrics.session_index import LOG
from spadework.sessions.storage.files import readable_bytes
from spadework.settings.sources import LEVELS, Concern, levels_of
from spadework.tools.stores.private_files import private_file, private_folder, write_atomically


def log_event(folder: Path, event: Event) -> None:
    """Append an event from outside a run to the session's record, with the current time."""
    timed = event.model_copy(update={"v": VERSION, "at": datetime.now(UTC)})
    log_lines(folder, timed.model_dump_json().encode() + b"\n")


def log_lines(folder: Path, lines: bytes) -> None:
    """Append lines to the record, always starting on a new line."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(folder / LOG, flags, 0o600), "ab+") as file:
        end = os.lseek(file.fileno(), 0, os.SEEK_END)
        if end and os.pread(file.fileno(), 1, end - 1) != b"\n":
            lines = b"\n" + lines
        file.write(lines)


def read_log(folder: Path) -> list[Event | None]:
    """Return a session's recorded events, with None for each invalid line."""
    return [_event(line) for line in readable_bytes(folder, LOG).splitlines()]


def was_cancelled(folder: Path) -> bool:
    """Return whether the session's last event is a cancellation."""
    last = next((event for event in reversed(read_log(folder)) if event is not None), None)
    return isinstance(last, Ended) and last.how == "cancelled"


def _event(line: bytes) -> Event | None:
    try:
        return read_event(line)
    except ValidationError:
        return None


LOGS = "logs"

#: A log line's concern (the log it belongs to), its fields, and its extra fields at debug level.
Told = tuple[Concern, Mapping[str, object], Mapping[str, object]]

#: For each event type: its concern (the log it belongs to), the fields to log, and extra fields at
#: debug level.
_FIELDS: Mapping[type[Timed], tuple[Concern, str, str]] = {
    Searched: ("search", "provider kind round hits", "topic query"),
    Unanswered: ("search", "provider kind round", "topic query reason"),
    Reading: ("crawl", "host round", "topic url title"),
    Read: ("crawl", "host round level status bytes fetch_seconds", "topic url title reason"),
    Cleaned: ("clean", "host before chars", "url reason"),
    Called: ("model", "role model shape method tokens_in tokens_out money verdict", "reason"),
    Started: ("orchestrator", "mode resumed", "question"),
    Scored: ("orchestrator", "round before score by", "topic why"),
    Asked: ("orchestrator", "kind", "text"),
    Ended: ("orchestrator", "how", "text"),
}


class Logs:
    """Writes the logs chosen in the settings, each at its own level."""

    def __init__(self, folder: Path, log: str) -> None:
        self._folder = folder / LOGS
        self._levels = levels_of(log)

    def lines(self, events: Iterable[Event]) -> dict[Concern, str]:
        """Return the events' log lines, joined into one string per log."""
        found: dict[Concern, str] = {}
        for event, (concern, fields, words) in (
            (e, told) for e in events for told in _log_lines(e)
        ):
            logged = self._levels.get(concern)
            level = "warning" if event.failed else "info"
            if event.at and logged and LEVELS.index(level) >= LEVELS.index(logged):
                took = {} if event.seconds is None else {"seconds": event.seconds}
                told = {**fields, **took, **(words if logged == "debug" else {})}
                at = event.at.isoformat(timespec="milliseconds")
                line = f"{at} {level.upper():<7} {concern} {event.type}{_pairs(told)}\n"
                found[concern] = found.get(concern, "") + line
        return found

    def add(self, events: Iterable[Event]) -> None:
        """Append events to the logs. Raises OSError."""
        for concern, text in self.lines(events).items():
            private_folder(self._folder)
            private_file(self._path(concern))
            with self._path(concern).open("ab") as file:
                file.write(text.encode())

    def redraw(self, events: Iterable[Event]) -> list[str]:
        """Rewrite the logs from the events, and return their file names. Raises OSError."""
        drawn = self.lines(events)
        for concern, text in drawn.items():
            private_folder(self._folder)
            write_atomically(self._path(concern), text.encode())
        return [f"{LOGS}/{self._path(concern).name}" for concern in drawn]

    def _path(self, concern: Concern) -> Path:
        return self._folder / f"{concern}.log"


def _log_lines(event: Event) -> Iterator[Told]:
    if type(event) in _FIELDS:
        concern, fields, words = _FIELDS[type(event)]
        yield concern, _pick(event, fields), _pick(event, words)
    if isinstance(event, Read) and not event.reason:
        by = {"by": event.cleaned_by, "cleaning": event.cleaning}
        yield "clean", {**_pick(event, "host chars"), **by}, {"url": event.url}
    elif isinstance(event, Selected):
        fates = [hit.fate for hit in event.hits]
        counts = {fate: fates.count(fate) for fate in ("chosen", "reserve", "left")}
        yield "search", {**_pick(event, "round threshold"), **counts}, _pick(event, "topic note")
    elif isinstance(event, Planned):
        names = [topic.name for topic in event.plan.topics]
        yield "orchestrator", {"topics": len(names)}, {"names": "; ".join(names)}
    elif isinstance(event, Assessed):
        yield "orchestrator", {"round": event.round, "quotes": event.evidence}, {}
    elif isinstance(event, Troubled):
        yield "orchestrator", _pick(event.problem, "stage"), _pick(event.problem, "subject reason")
    elif isinstance(event, Finished):
        done = event.result
        told = {"status": done.status, "rounds": done.iterations}
        yield "orchestrator", told, {"by": done.stopped_by}


def _pick(of: object, names: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in names.split():
        if name == "host":
            split = urlsplit(str(vars(of)["url"]))
            found[name] = split.hostname or split.scheme
        else:
            value = getattr(of, name)
            found[name] = int(value) if isinstance(value, bool) else value
    return found


def _pairs(told: Mapping[str, object]) -> str:
    return "".join(
        f" {name}={json.dumps(value, ensure_ascii=False) if _needs_quotes(value) else value}"
        for name, value in told.items()
        if value not in ("", None)
    )


def _needs_quotes(value: object) -> bool:
    return isinstance(value, str) and not value.replace("-", "").replace(".", "").isalnum()

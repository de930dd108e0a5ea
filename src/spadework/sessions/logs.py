"""The logs of a session: `logs/<concern>.log`, a line an event, drawn from its record. At level
info no line holds a key, nor words of a page, a model or a user.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from spadework.events import Event
from spadework.sessions.entries import Entry, entries_of
from spadework.settings.kinds import Concern, LogLevel
from spadework.settings.observing import LEVELS, levels_of
from spadework.tools.stores.page_store import write_atomically
from spadework.tools.stores.private_files import private_folder

#: Where they stand in the folder of a session.
LOGS = "logs"


class Logs:
    """The logs that the settings ask for: a level for each concern that is logged, as text or as
    JSON.
    """

    def __init__(self, folder: Path, log: str, *, as_json: bool) -> None:
        self._folder = folder / LOGS
        self._levels = levels_of(log)
        self._as_json = as_json

    def lines(self, events: Iterable[Event]) -> dict[Concern, str]:
        """The lines of events by concern."""
        found: dict[Concern, str] = {}
        for entry in (entry for event in events for entry in entries_of(event)):
            if (level := self._levels.get(entry.concern)) and _is_logged(entry, level):
                line = line_of(entry, debug=level == "debug", as_json=self._as_json)
                found[entry.concern] = found.get(entry.concern, "") + line + "\n"
        return found

    def add(self, events: Iterable[Event]) -> None:
        """Append the lines of events. Raises OSError."""
        for concern, text in self.lines(events).items():
            private_folder(self._folder)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
            with os.fdopen(os.open(self._path(concern), flags, 0o600), "ab") as file:
                file.write(text.encode())

    def redraw(self, events: Iterable[Event]) -> list[str]:
        """Write the logs anew from all events. Returns their names. Raises OSError."""
        drawn = self.lines(events)
        for concern, text in drawn.items():
            private_folder(self._folder)
            write_atomically(self._path(concern), text.encode())
        return [f"{LOGS}/{self._path(concern).name}" for concern in drawn]

    def _path(self, concern: Concern) -> Path:
        return self._folder / f"{concern}.log"


def line_of(entry: Entry, *, debug: bool, as_json: bool) -> str:
    """An entry as one line; its words only in `debug`."""
    took = {} if entry.seconds is None else {"seconds": entry.seconds}
    told = {**entry.fields, **took, **(entry.words if debug else {})}
    at = entry.at.isoformat(timespec="milliseconds")
    if as_json:
        head = {"at": at, "level": entry.level, "concern": entry.concern, "event": entry.event}
        return json.dumps(head | told, ensure_ascii=False)
    return f"{at} {entry.level.upper():<7} {entry.concern} {entry.event}{_pairs(told)}"


def _pairs(told: Mapping[str, str | int | float | None]) -> str:
    """Fields as ` name=value`; words in quotes, as in JSON."""
    return "".join(
        f" {name}={json.dumps(value, ensure_ascii=False) if _needs_quotes(value) else value}"
        for name, value in told.items()
        if value not in ("", None)
    )


def _needs_quotes(value: str | float | None) -> bool:
    return isinstance(value, str) and not value.replace("-", "").replace(".", "").isalnum()


def _is_logged(entry: Entry, level: LogLevel) -> bool:
    return LEVELS.index(entry.level) >= LEVELS.index(level)

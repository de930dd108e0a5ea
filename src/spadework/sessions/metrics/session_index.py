"""An index of values derived from the files of sessions, rebuilt if lost. A value is used only
while its files are unchanged.
"""

from __future__ import annotations

import json
import logging
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from spadework.tools.stores.private_files import is_session_id, private_file, said_of

METADATA = "session_metadata.json"
RESULT = "result.json"
LOG = "events.jsonl"

#: The index's file name, and the version of its rows. Increase VERSION when their content changes.
INDEX, VERSION = "sessions.sqlite", 5
#: No value is stored for a file changed less than this many nanoseconds ago, because it may change
#: again without a new timestamp.
SETTLED_NS = 2_000_000_000
#: Number of sessions in the first batch, and in each later batch. The first is small, for callers
#: who want only the newest sessions.
FIRST, MORE = 200, 2_500
#: If rebuilding the index takes longer than this many seconds, a message explains the delay.
LONG_SECONDS = 1.0
#: Maximum seconds to wait while another process writes.
BUSY_SECONDS = 2.0

_TABLE = """CREATE TABLE IF NOT EXISTS rows (
    view TEXT, id TEXT, mark TEXT, value TEXT, sum INTEGER, PRIMARY KEY (view, id)
) WITHOUT ROWID"""
_RANGE = "SELECT id, mark, value, sum FROM rows WHERE view = ? AND id BETWEEN ? AND ?"
_log = logging.getLogger(__name__)


class Drawn(NamedTuple):
    """A JSON value derived from a session's files, or None. The index stores it only if `kept`."""

    value: Any
    kept: bool = True


class View(NamedTuple):
    """A kind of value that `draw` derives from a session's folder, using only `files`."""

    name: str
    files: tuple[str, ...]
    draw: Callable[[Path], Drawn]


def view_sessions(
    home: Path, view: View, notify: Callable[[str], None] | None = None
) -> Iterator[tuple[str, Any]]:
    """Yield the id and value of each session that has a value, newest first. If this takes long,
    `notify` receives a message.
    """
    names = _names(home)
    if not names:
        return
    patience = _Patience(notify or _log.warning, len(names))
    with closing(_Index(home / INDEX)) as index:
        at, size = 0, FIRST
        while at < len(names):
            yield from _of(home / "sessions", view, names[at : at + size], index, patience)
            at, size = at + size, MORE


def _names(home: Path) -> list[str]:
    try:
        with os.scandir(home / "sessions") as entries:
            return sorted((e.name for e in entries if is_session_id(e.name)), reverse=True)
    except OSError:
        return []


def _of(
    sessions: Path, view: View, names: Sequence[str], index: _Index, patience: _Patience
) -> Iterator[tuple[str, Any]]:
    known = index.rows(view.name, names[-1], names[0])
    new: dict[str, tuple[str, str]] = {}
    here = frozenset(names)
    try:
        for name in names:
            mark = _mark(f"{sessions}/{name}/", view.files)
            row = known.get(name)
            if row is not None and row[0] == mark:
                value = _parse_value(row[1])
            else:
                since = time.time_ns()
                value, kept = view.draw(sessions / name)
                if kept and _is_settled(mark, since):
                    new[name] = mark, json.dumps(value, separators=(",", ":"))
                patience.lasts()
            if value is not None:
                yield name, value
    finally:
        index.put(view.name, new, known.keys() - here)


def _parse_value(value: str) -> Any:
    """Parse a stored value with `from_json`, which is faster than `json`."""
    try:
        return from_json(value)
    except ValueError:  # lone surrogates
        return json.loads(value)


def _mark(folder: str, files: Sequence[str]) -> str:
    found = []
    for name in files:
        try:
            is_ = os.stat(folder + name)  # noqa: PTH116 - a Path costs more than the call, of which there are 30,000
            found.append(f"{is_.st_mtime_ns} {is_.st_ctime_ns} {is_.st_ino} {is_.st_size}")
        except OSError:
            found.append("0 0 0 -")
    return ",".join(found)


def _is_settled(mark: str, now: int) -> bool:
    times = [int(time_) for file in mark.split(",") for time_ in file.split(" ")[:2]]
    return max(times) + SETTLED_NS < now


class _Patience:
    def __init__(self, tell: Callable[[str], None], count: int) -> None:
        self._tell, self._count = tell, count
        self._began: float | None = None
        self._said = False

    def lasts(self) -> None:
        now = time.monotonic()
        self._began = self._began or now
        if not self._said and now - self._began > LONG_SECONDS:
            self._said = True
            self._tell(
                f"Rebuilding the index of {self._count:,} sessions from their folders. This takes"
                f" a moment."
            )


class _Index:
    """The SQLite index, treated as empty if unusable, and deleted if damaged."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = self._opened() or self._opened()  # the first try deletes a damaged file

    def close(self) -> None:
        if self._db is not None:
            self._db.close()
        self._db = None

    def rows(self, view: str, low: str, high: str) -> Mapping[str, tuple[str, str]]:
        if self._db is None:
            return {}
        try:
            found = self._db.execute(_RANGE, (view, low, high)).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._fail(error)
            return {}
        return {
            id_: (mark, value) for id_, mark, value, sum_ in found if _sum(mark, value, id_) == sum_
        }

    def put(self, view: str, new: Mapping[str, tuple[str, str]], gone: Iterable[str]) -> None:
        removed = [(view, id_) for id_ in gone]
        if self._db is None or not (new or removed):
            return
        rows = [(view, id_, m, v, _sum(m, v, id_)) for id_, (m, v) in new.items()]
        try:
            with self._db:
                self._db.executemany("DELETE FROM rows WHERE view = ? AND id = ?", removed)
                self._db.executemany("INSERT OR REPLACE INTO rows VALUES (?, ?, ?, ?, ?)", rows)
        except sqlite3.Error as error:
            self._fail(error)

    def _opened(self) -> sqlite3.Connection | None:
        try:
            private_file(self._path)
            db = sqlite3.connect(self._path, timeout=BUSY_SECONDS)
        except (OSError, sqlite3.Error):
            return None
        try:
            return _prepare_database(db)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            self._db = db
            self._fail(error)
            return None

    def _fail(self, error: Exception) -> None:
        self.close()
        disk_or_others = isinstance(error, sqlite3.Error) and said_of(error)
        if not disk_or_others:
            for end in ("", "-journal"):
                with suppress(OSError):
                    Path(f"{self._path}{end}").unlink()


def _prepare_database(db: sqlite3.Connection) -> sqlite3.Connection:
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        with db:
            db.execute("DROP TABLE IF EXISTS rows")
            db.execute(_TABLE)
            db.execute(f"PRAGMA user_version = {VERSION}")
    # Do not wait for the disk, because lost rows are derived again.
    db.execute("PRAGMA synchronous = OFF")
    return db


def _sum(mark: Any, value: Any, id_: Any) -> int:
    return zlib.crc32(f"{id_} {mark} {value}".encode(errors="surrogatepass"))

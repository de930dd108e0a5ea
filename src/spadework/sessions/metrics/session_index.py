"""The index beside the session folders: what was made of the files of each, kept for as long as
those files stay as they are.

The folders are the truth. Which there are is asked of the disk every time, and a row counts only
while its files bear the same sizes and times and its own sum is right: an index that is deleted,
damaged or of another version costs the time to read the folders again, and nothing else.
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

from spadework.tools.stores.disk_faults import said_of
from spadework.tools.stores.private_files import is_session_id, private_file

#: The file, in the home; the version of its rows, raised whenever they hold something else.
INDEX, VERSION = "sessions.sqlite", 3
#: A file that changed so lately may change again within the same tick of its clock: what it holds
#: now is told, not kept.
SETTLED_NS = 2_000_000_000
#: Rows that are read at once: few at first, for those who only want the newest.
FIRST, MORE = 200, 2_500
#: From so many seconds of reading on it is said what takes so long.
LONG_SECONDS = 1.0
#: How long another process's write is waited for.
BUSY_SECONDS = 2.0

_TABLE = """CREATE TABLE IF NOT EXISTS rows (
    view TEXT, id TEXT, mark TEXT, value TEXT, sum INTEGER, PRIMARY KEY (view, id)
) WITHOUT ROWID"""
_RANGE = "SELECT id, mark, value, sum FROM rows WHERE view = ? AND id BETWEEN ? AND ?"
_log = logging.getLogger(__name__)


class Drawn(NamedTuple):
    """What was made of a folder, as JSON, None of no session; unless `kept`, every time anew."""

    value: Any
    kept: bool = True


class View(NamedTuple):
    """One thing drawn from each session's folder: its name, the files it is made of, and how."""

    name: str
    files: tuple[str, ...]
    draw: Callable[[Path], Drawn]


def view_sessions(
    home: Path, view: View, told: Callable[[str], None] | None = None
) -> Iterator[tuple[str, Any]]:
    """The id of each session under `home`, newest first, and what `view` makes of it. `told` hears
    one sentence where many folders must be read for that; a log hears it where there is none.
    """
    names = _names(home)
    if not names:
        return
    patience = _Patience(told or _log.warning, len(names))
    with closing(_Index(home / INDEX)) as index:
        at, size = 0, FIRST
        while at < len(names):
            yield from _of(home / "sessions", view, names[at : at + size], index, patience)
            at, size = at + size, MORE


def _names(home: Path) -> list[str]:
    """The names of the session folders, newest first."""
    try:
        with os.scandir(home / "sessions") as entries:
            return sorted((e.name for e in entries if is_session_id(e.name)), reverse=True)
    except OSError:
        return []


def _of(
    sessions: Path, view: View, names: Sequence[str], index: _Index, patience: _Patience
) -> Iterator[tuple[str, Any]]:
    """The values of some folders, newest first. What had to be drawn anew is kept."""
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
    """A value as it was kept. Thousands are read at once, by what takes half as long as `json`."""
    try:
        return from_json(value)
    except ValueError:  # half a character, which is none for it
        return json.loads(value)


def _mark(folder: str, files: Sequence[str]) -> str:
    """What tells whether files were changed, in whatever way: of each its times, inode and size."""
    found = []
    for name in files:
        try:
            is_ = os.stat(folder + name)  # noqa: PTH116 - a Path costs more than the call, of which there are 30,000
            found.append(f"{is_.st_mtime_ns} {is_.st_ctime_ns} {is_.st_ino} {is_.st_size}")
        except OSError:
            found.append("0 0 0 -")
    return ",".join(found)


def _is_settled(mark: str, now: int) -> bool:
    """Whether files were the same long enough at a moment for their mark to stand for them."""
    times = [int(time_) for file in mark.split(",") for time_ in file.split(" ")[:2]]
    return max(times) + SETTLED_NS < now


class _Patience:
    """Says once that it takes long."""

    def __init__(self, tell: Callable[[str], None], count: int) -> None:
        self._tell, self._count = tell, count
        self._began: float | None = None
        self._said = False

    def lasts(self) -> None:
        """One more folder was read."""
        now = time.monotonic()
        self._began = self._began or now
        if not self._said and now - self._began > LONG_SECONDS:
            self._said = True
            self._tell(
                f"The index of {self._count:,} sessions is made anew from their folders, which"
                " takes a moment this once."
            )


class _Index:
    """The SQLite file; one that cannot be used is as good as empty, a broken one is removed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._db = self._opened() or self._opened()  # a broken one is gone at the second try

    def close(self) -> None:
        """Close the file."""
        if self._db is not None:
            self._db.close()
        self._db = None

    def rows(self, view: str, low: str, high: str) -> Mapping[str, tuple[str, str]]:
        """The mark and the value of each row whose sum is right, by id from `low` to `high`."""
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
        """Keep rows by id, and forget those that are gone."""
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
        """Go on without the file, which is held or cannot be written; a broken one is removed."""
        self.close()
        disk_or_others = isinstance(error, sqlite3.Error) and said_of(error)
        if not disk_or_others:
            for end in ("", "-journal"):
                with suppress(OSError):
                    Path(f"{self._path}{end}").unlink()


def _prepare_database(db: sqlite3.Connection) -> sqlite3.Connection:
    """The database with its table, which one of another version loses. Raises sqlite3.Error."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        with db:
            db.execute("DROP TABLE IF EXISTS rows")
            db.execute(_TABLE)
            db.execute(f"PRAGMA user_version = {VERSION}")
    # What a crash of the machine takes is made anew.
    db.execute("PRAGMA synchronous = OFF")
    return db


def _sum(mark: Any, value: Any, id_: Any) -> int:
    return zlib.crc32(f"{id_} {mark} {value}".encode(errors="surrogatepass"))

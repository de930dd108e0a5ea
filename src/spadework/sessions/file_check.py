"""What is broken among the files of a session and of the home, found by reading each of them, and
changing none.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pydantic import ValidationError

from spadework.errors import SessionError, SessionUnreadable
from spadework.events import read_event
from spadework.sessions.checkpoints import damaged_checkpoint
from spadework.sessions.file_names import JOURNAL, LEDGER, LOG, METADATA, PROGRESS, RESULT
from spadework.sessions.files import check_progress, read_metadata, read_result
from spadework.sessions.session_file import readable_bytes
from spadework.tools.stores.journal_rows import USED, sum_charges
from spadework.tools.stores.page_store import content_hash
from spadework.tools.stores.session_database import VERSION
from spadework.values import Evidence

#: The files that only a session of ours has; a LangGraph server leaves others.
OURS = (METADATA, PROGRESS, RESULT, LOG, LEDGER)
#: The files with one value a line.
LINES = (LEDGER, LOG)
#: A digest in hexadecimal, as pages are named.
_DIGEST = 64
#: What sessions share in their home, and would make anew: files of JSON, and databases, each with
#: what is of no use without it.
_SHARED = ("endings.json", "cache/hosts.json")
_DATABASES = (
    ("cache/searches.sqlite", "cache/searches.sqlite"),
    ("knowledge/pages.sqlite", "knowledge"),
)
_INDEX = "documents.db"


@dataclass(frozen=True)
class Broken:
    """A file, by its path in the folder, and what is wrong with it."""

    name: str
    why: str


def broken_files(folder: Path) -> list[Broken]:
    """The broken files of a session, its metadata first."""
    if not any(stands(folder / name) for name in OURS):
        return []
    found = [
        (METADATA, _fault_of(read_metadata, folder)),
        (RESULT, _fault_of(read_result, folder)),
        (PROGRESS, _fault_of(check_progress, folder)),
        *((name, fault_in(folder / name, partial(_lines, name))) for name in LINES),
        (JOURNAL, _journal(folder / JOURNAL)),
        *(
            (f"pages/{path.name}", fault_in(path, partial(_page, path.stem)))
            for path in sorted((folder / "pages").glob("*.md"))
        ),
        *((path.name, fault_in(path, _text)) for path in sorted(folder.glob("*.md"))),
    ]
    return [Broken(name, why) for name, why in found if why]


def broken_caches(home: Path) -> Iterator[Broken]:
    """What is broken of what sessions share; damaged pages of the cache are fetched anew."""
    for name in _SHARED:
        if why := fault_in(home / name, _json):
            yield Broken(name, why)
    libraries = (f"library/{path.parent.name}" for path in (home / "library").glob(f"*/{_INDEX}"))
    of_libraries = ((f"{whole}/{_INDEX}", whole) for whole in sorted(libraries))
    for name, whole in (*_DATABASES, *of_libraries):
        path = home / name
        why = no_file(path)
        if not why and path.exists() and database_fault(path):
            # Somebody may just be writing to it, which is seen only by who waits for them.
            why = database_fault(path, live=True)
        if why:
            yield Broken(whole, why)


def fault_in(path: Path, check: Callable[[bytes], str]) -> str:
    """What is wrong with a file, if there is one, also by what `check` says of its bytes, or ""."""
    if fault := no_file(path):
        return fault
    try:
        return check(path.read_bytes())
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or "it cannot be read"


def database_fault(path: Path, *, live: bool = False) -> str:
    """What is wrong with an SQLite file, or ""; one that others write to (`live`) may be held."""
    try:
        with closing(open_database(path, live=live)) as db:
            (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        said = "ok" if live else str(error)
    except (sqlite3.Error, UnicodeDecodeError) as error:  # also of a damaged name in what it says
        said = str(error)
    return "" if said == "ok" else _shortened(said)


def open_database(path: Path, *, live: bool = False) -> sqlite3.Connection:
    """An SQLite file to be read; unless others may write to it (`live`), nothing is written beside
    it either. Raises sqlite3.Error.
    """
    how = "mode=ro" if live else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=2)


def readable_lines(path: Path) -> list[bytes]:
    """The lines of a ledger or a log that can be read, none where that is no file."""
    lines = readable_bytes(path.parent, path.name).split(b"\n")
    return [line for line in lines if line and _is_value(path.name, line)]


def _is_value(name: str, line: bytes) -> bool:
    try:
        Evidence.model_validate_json(line) if name == LEDGER else read_event(line)
    except ValidationError:
        return False
    return True


def stands(path: Path) -> bool:
    """Whether there is anything at a path, also a link that leads nowhere."""
    return path.exists() or path.is_symlink()


def _fault_of(read: Callable[[Path], object], folder: Path) -> str:
    try:
        read(folder)
    except SessionUnreadable as error:
        return error.why  # none is told of a later version, which is not broken
    except SessionError:
        return "it is missing"
    return ""


def _lines(name: str, data: bytes) -> str:
    lines = [line for line in data.split(b"\n") if line]
    bad = sum(not _is_value(name, line) for line in lines)
    return f"{bad} of {len(lines)} lines cannot be read" if bad else ""


def _journal(path: Path) -> str:
    if (fault := no_file(path)) or not path.exists() or not path.stat().st_size:
        return fault
    wal = path.with_name(f"{path.name}-wal")
    if not wal.exists() or not wal.stat().st_size:
        return _whole(path)
    # What a killed process has written last stands in a file beside it. SQLite reads it into the
    # file of who opens it.
    with tempfile.TemporaryDirectory(prefix="spadework-check-") as own:
        for each in (path, wal):
            shutil.copy(each, own)
        return _whole(Path(own) / path.name, live=True)


def _whole(path: Path, *, live: bool = False) -> str:
    """What is wrong with a journal, "" where nothing is; one of a later version is not ours."""
    try:
        with closing(open_database(path, live=live)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] > VERSION:
                return ""
            (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if said == "ok":
                tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master")}
                if "exchanges" in tables:  # else it is of an earlier version
                    sum_charges(db.execute(USED))
                return damaged_checkpoint(db) if "checkpoints" in tables else ""
    except (sqlite3.Error, UnicodeDecodeError) as error:
        said = str(error)
    return _shortened(said)


def _shortened(said: object) -> str:
    return " ".join(str(said).split())[:150]


def _page(stem: str, data: bytes) -> str:
    if fault := _text(data):
        return fault
    named = len(stem) == _DIGEST
    return "it is not what was read" if named and content_hash(data.decode()) != stem else ""


def _json(data: bytes) -> str:
    try:
        return "" if isinstance(json.loads(data), dict) else "it is no object"
    except (ValueError, RecursionError):
        return "it is no JSON"


def _text(data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError:
        return "it is no valid text"
    return ""


def no_file(path: Path) -> str:
    """What is wrong where a folder, a pipe or a link to nothing stands in the place of a file."""
    try:
        return "it is no file" if stands(path) and not path.is_file() else ""
    except OSError as error:
        return error.strerror or "it cannot be read"

"""What is broken among the files of a session, found by reading each of them, and changing none."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from spadework.errors import SessionError, SessionUnreadable
from spadework.events import read_event
from spadework.sessions.checkpoints import damaged_checkpoint
from spadework.sessions.file_names import JOURNAL, LEDGER, LOG, METADATA, PROGRESS, RESULT
from spadework.sessions.files import check_progress, read_metadata, read_result
from spadework.tools.stores.charges import USED, sum_charges
from spadework.tools.stores.page_store import content_hash
from spadework.tools.stores.session_database import VERSION
from spadework.values import Evidence

#: The files that only a session of ours has; a LangGraph server leaves others.
OURS = (METADATA, PROGRESS, RESULT, LOG, LEDGER)
#: The files with one value a line.
LINES = (LEDGER, LOG)
#: A digest in hexadecimal, as pages are named.
_DIGEST = 64


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
        (METADATA, _metadata(folder)),
        (RESULT, _file_label(folder, RESULT)),
        (PROGRESS, _file_label(folder, PROGRESS)),
        *((name, _lines(folder / name)) for name in LINES),
        (JOURNAL, _journal(folder / JOURNAL)),
        *((f"pages/{path.name}", _page(path)) for path in sorted((folder / "pages").glob("*.md"))),
        *((path.name, _text(path)) for path in sorted(folder.glob("*.md"))),
    ]
    return [Broken(name, why) for name, why in found if why]


def database_fault(path: Path) -> str:
    """What is wrong with an SQLite file that nobody writes to now, "" where nothing is."""
    try:
        with closing(open_database(path)) as db:
            (said,) = db.execute("PRAGMA quick_check(1)").fetchone()
    except (sqlite3.Error, UnicodeDecodeError) as error:  # also of a damaged name in what it says
        said = str(error)
    return "" if said == "ok" else " ".join(str(said).split())[:150]


def open_database(path: Path, *, live: bool = False) -> sqlite3.Connection:
    """An SQLite file to be read; unless others may write to it (`live`), nothing is written beside
    it either. Raises sqlite3.Error.
    """
    how = "mode=ro" if live else "mode=ro&immutable=1"
    return sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, timeout=2)


def readable_lines(path: Path) -> list[bytes]:
    """The lines of a ledger or a log that can be read, none where that is no file."""
    try:
        lines = path.read_bytes().split(b"\n") if not no_file(path) else []
    except OSError:
        return []
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


def _metadata(folder: Path) -> str:
    try:
        read_metadata(folder)
    except SessionUnreadable as error:
        return error.why  # none is told of a later version, which is not broken
    except SessionError:
        return "it is missing"
    return ""


def _file_label(folder: Path, name: str) -> str:
    try:
        read_result(folder) if name == RESULT else check_progress(folder)
    except SessionUnreadable as error:
        return error.why
    return ""


def _lines(path: Path) -> str:
    if fault := no_file(path):
        return fault
    try:
        lines = [line for line in path.read_bytes().split(b"\n") if line]
    except FileNotFoundError:
        return ""
    except OSError as error:
        return error.strerror or "it cannot be read"
    bad = sum(not _is_value(path.name, line) for line in lines)
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
    except (sqlite3.Error, UnicodeDecodeError) as error:  # also of a damaged name in what it says
        said = str(error)
    return " ".join(str(said).split())[:150]


def _page(path: Path) -> str:
    if fault := _text(path):
        return fault
    named = len(path.stem) == _DIGEST
    with path.open(newline="", encoding="utf-8") as file:
        text = file.read()
    return "it is not what was read" if named and content_hash(text) != path.stem else ""


def _text(path: Path) -> str:
    if fault := no_file(path):
        return fault
    try:
        path.read_bytes().decode()
    except OSError as error:
        return error.strerror or "it cannot be read"
    except UnicodeDecodeError:
        return "it is no valid text"
    return ""


def no_file(path: Path) -> str:
    """What is wrong where something else stands in the place of a file: a folder, a pipe, a link
    that leads nowhere.
    """
    try:
        return "it is no file" if stands(path) and not path.is_file() else ""
    except OSError as error:
        return error.strerror or "it cannot be read"

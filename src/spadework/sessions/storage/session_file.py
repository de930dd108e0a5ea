"""Read one file of a session, and lock a session so that only one process works on it.

Faults are reported in one sentence. The system frees the lock of a dead process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from spadework.errors import SessionBusy, SessionUnreadable, SettingsError

METADATA = "session_metadata.json"
PROGRESS = "progress_tracking.json"
LEDGER = "evidence.jsonl"
RESULT = "result.json"
JOURNAL = "session.sqlite"
LOG = "events.jsonl"
#: Marks a session with undelivered changes, or an imported session.
UNTOLD = "undelivered"
V = TypeVar("V", bound=BaseModel)
LOCK = ".lock"
#: Seconds to wait for the lock, which `is_held` takes briefly, and between attempts.
_MOMENT, _AGAIN = 0.2, 0.02


class Kept(BaseModel):
    """A file's content. Invisible characters stay, since paths may have them. Fields of other
    versions are ignored.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


def read_value(folder: Path, name: str, kind: type[V]) -> V | None:
    """Return a file's content, or None if it does not exist. Raises SessionUnreadable."""
    try:
        return kind.model_validate_json(read_bytes(folder, name))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        why = f"{place}: {first['msg']}" if place else first["msg"]
        raise unreadable(folder, name, why) from None
    except SettingsError as error:
        raise unreadable(folder, name, str(error)) from None


def read_bytes(folder: Path, name: str) -> bytes:
    """Return a file's bytes. Raises FileNotFoundError or SessionUnreadable."""
    path = folder / name
    try:
        if path.exists() and not path.is_file():  # a pipe may block forever
            raise unreadable(folder, name, "it is not a file")
        return path.read_bytes()
    except NotADirectoryError as error:
        raise FileNotFoundError(path) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(folder, name, error.strerror or "it cannot be read") from None


def readable_bytes(folder: Path, name: str) -> bytes:
    """Return a file's bytes, or b"" if missing or unreadable."""
    try:
        return read_bytes(folder, name)
    except (FileNotFoundError, SessionUnreadable):
        return b""


def unreadable(folder: Path, name: str, why: str) -> SessionUnreadable:
    """Return the error for a damaged file, with a hint."""
    error = SessionUnreadable(
        f"Session {folder.name} cannot be read: {name}: {why}"[:300].rstrip(".") + ".",
        hint=_mend(folder.name, name),
    )
    error.why = why
    return error


def _mend(session_id: str, name: str) -> str:
    resume = f"`spadework resume {session_id}`"
    if name == RESULT:  # it is also in the last checkpoint
        return f"To write the file again, run {resume}."
    delete = f"to delete the session, run `spadework sessions delete {session_id}`."
    if name == JOURNAL:
        return f"To start again, delete the file and run {resume}; {delete}"
    return f"The other files are intact; {delete}"


@contextmanager
def hold_session(folder: Path) -> Iterator[None]:
    """Lock a session. Raises SessionBusy if another process holds it."""
    lock = _lock(folder)
    try:
        lock.acquire(timeout=_MOMENT, poll_interval=_AGAIN)
    except Timeout:
        raise SessionBusy(f"Another process is working on session {folder.name}.") from None
    try:
        yield
    finally:
        lock.release()


def is_held(folder: Path) -> bool:
    """Return whether any process, even this one, holds a session. An unreadable lock counts as not
    held.
    """
    if not (folder / LOCK).exists():
        return False
    lock = _lock(folder)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False


def _lock(folder: Path) -> FileLock:
    return FileLock(folder / LOCK, mode=0o600)

"""One file of a session, its name and content; faults are reported in one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from spadework.errors import SessionUnreadable, SettingsError

METADATA = "session_metadata.json"
PROGRESS = "progress_tracking.json"
LEDGER = "evidence.jsonl"
RESULT = "result.json"
JOURNAL = "session.sqlite"
LOG = "events.jsonl"


V = TypeVar("V", bound=BaseModel)


class Kept(BaseModel):
    """A file's content, unchanged, even invisible characters in paths; fields of other versions are
    ignored.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


def read_value(folder: Path, name: str, kind: type[V]) -> V | None:
    """Return a file's content, None if there is none. Raises SessionUnreadable."""
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
    """Return a file's bytes. Raises FileNotFoundError, SessionUnreadable if it is not a file."""
    path = folder / name
    try:
        if path.exists() and not path.is_file():  # reading a pipe may never end
            raise unreadable(folder, name, "it is no file")
        return path.read_bytes()
    except NotADirectoryError as error:
        raise FileNotFoundError(path) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(folder, name, error.strerror or "it cannot be read") from None


def readable_bytes(folder: Path, name: str) -> bytes:
    """Return a file's bytes; empty if missing or unreadable."""
    try:
        return read_bytes(folder, name)
    except (FileNotFoundError, SessionUnreadable):
        return b""


def unreadable(folder: Path, name: str, why: str) -> SessionUnreadable:
    """Return the error for a damaged file, with what the user can do about it."""
    error = SessionUnreadable(
        f"Session {folder.name} cannot be read: {name}: {why}"[:300].rstrip(".") + ".",
        hint=_mend(folder.name, name),
    )
    error.why = why
    return error


def _mend(session_id: str, name: str) -> str:
    resume = f"`spadework resume {session_id}`"
    if name == RESULT:  # the last checkpoint has it too
        return f"{resume} writes it again."
    delete = f"`spadework sessions delete {session_id}` removes the session."
    if name == JOURNAL:
        return f"Without that file {resume} starts the research again; {delete}"
    return f"Its other files are intact; {delete}"

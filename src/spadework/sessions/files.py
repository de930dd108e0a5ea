"""The files of a session, as they are read back. Any of them may be broken: cut off by a full disk,
edited by hand, restored in part. One that is broken is an error of its session alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from spadework.budget import Limits
from spadework.errors import SessionError, SessionNotFound, SessionUnreadable, SettingsError
from spadework.graph.desk import is_session_id
from spadework.tools.private import private_folder
from spadework.values import Coverage, Evidence, Problem, Result, Value

METADATA = "session_metadata.json"
PROGRESS = "progress_tracking.json"
LEDGER = "evidence.jsonl"
RESULT = "result.json"
JOURNAL = "session.sqlite"

#: The version of a session's files. What an older one lacks has a value that stands for that.
VERSION = 1
#: Questions before this one that are told to the lead, at most.
MOST_EARLIER = 5

V = TypeVar("V", bound=BaseModel)


class _Kept(BaseModel):
    """What stands in a file that another version may have written: what it adds is passed over.
    It is kept as it is, also a path with characters that nobody sees.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")


class Metadata(_Kept):
    """What is known of a session from its start on, and in the end; `status` is "" until then.
    `version` is that of its files, 0 where they are from before there were versions.
    """

    id: str = ""
    version: int = 0
    created_at: datetime
    query: str
    status: str = ""
    method: str = ""
    attachments: tuple[str, ...] = ()
    follows: str = ""
    wishes: str = ""
    most_words: int = 0
    settings: dict[str, Any] = Field(default_factory=dict)
    limits: Limits | None = None
    performance_metrics: dict[str, Any] = Field(default_factory=dict)
    results_summary: dict[str, Any] = Field(default_factory=dict)
    file_paths: dict[str, str] = Field(default_factory=dict)


class RoundProgress(_Kept):
    """One round: how many quotes the ledger holds after it, and how far its topics are proven."""

    round: int
    evidence: int
    coverage: tuple[Coverage, ...] = ()


class Progress(_Kept):
    """How far a session is."""

    state: str = "started"
    topics: tuple[str, ...] = ()
    rounds: tuple[RoundProgress, ...] = ()
    problems: tuple[Problem, ...] = ()


class Unreadable(Value):
    """A session of which not even the metadata can be read, and why."""

    id: str
    reason: str


def session_folder(home: Path, session_id: str) -> Path:
    """The folder of a session. Raises SessionNotFound where there is none, or the id could name a
    folder outside the sessions.
    """
    folder = home / "sessions" / session_id
    if not is_session_id(session_id) or not folder.is_dir():
        raise SessionNotFound(
            f"There is no session {session_id[:80]!r}.", hint="`spadework sessions` lists them."
        )
    return folder


def list_sessions(home: Path) -> list[Metadata | Unreadable]:
    """All sessions, newest first; one that cannot be read stands among them with the reason."""
    try:
        folders = sorted((home / "sessions").iterdir(), reverse=True)
    except OSError:
        return []
    return [listed for folder in folders if (listed := _listed(folder)) is not None]


def readable_sessions(home: Path) -> Iterator[Metadata]:
    """The sessions whose metadata can be read, newest first."""
    return (listed for listed in list_sessions(home) if isinstance(listed, Metadata))


def read_metadata(folder: Path) -> Metadata:
    """The metadata of a session folder. Raises SessionNotFound where there is none,
    SessionUnreadable.
    """
    if (found := _read(folder, METADATA, Metadata)) is None:
        raise SessionNotFound(
            f"There is no session {folder.name}.", hint="`spadework sessions` lists them."
        )
    if found.version > VERSION:
        raise SessionUnreadable(
            f"Session {folder.name} was written by a newer spadework (version {found.version} of"
            f" its files; this one knows {VERSION}).",
            hint="Update spadework to use it.",
        )
    # The folder is what the session is found by, whatever stands in its file.
    return found.model_copy(update={"id": folder.name})


def read_result(folder: Path) -> Result | None:
    """The result of a finished session, None of one that is not finished. Raises
    SessionUnreadable.
    """
    return _read(folder, RESULT, Result)


def whole_result(folder: Path) -> Result | None:
    """The result that is written down. A file that is broken is written anew, from the last
    checkpoint.
    """
    try:
        return read_result(folder)
    except SessionUnreadable:
        return None


def make_folder(folder: Path) -> None:
    """Make the folder of a session. Raises SettingsError where that cannot be."""
    try:
        private_folder(folder.parent)
        private_folder(folder)
    except OSError as error:
        raise SettingsError(
            f"The session folder {folder} cannot be made: {error.strerror}. Choose another with"
            " --home."
        ) from None


def read_progress(folder: Path) -> Progress:
    """How far a session is; that of one just begun where the file is missing or broken."""
    try:
        return _read(folder, PROGRESS, Progress) or Progress()
    except SessionUnreadable:
        return Progress()


def read_ledger(folder: Path) -> list[Evidence]:
    """The evidence of a session so far, without the lines that cannot be read."""
    try:
        # Lines end with \n only: a quote may hold other characters that end a line elsewhere.
        lines = (folder / LEDGER).read_bytes().split(b"\n")
    except OSError:
        return []
    return [entry for line in lines if line and (entry := _entry(line)) is not None]


def read_page(folder: Path, content_hash: str) -> str | None:
    """The text of a page that a session has read, None where there is none. Raises
    SessionUnreadable.
    """
    name = f"pages/{content_hash}.md"
    if not content_hash.isalnum() or not content_hash.isascii():
        return None
    try:
        return _bytes(folder, name).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise _unreadable(folder, name, "it is no valid text") from error


def exchanges_before(home: Path, follows: str) -> list[tuple[str, str]]:
    """The questions of the session `follows` and those it follows up itself, oldest first, as far
    back as they can be read, each with the summary of its report. Raises SessionNotFound or
    SessionUnreadable for `follows` alone.
    """
    found: list[tuple[str, str]] = []
    while follows and len(found) < MOST_EARLIER:
        try:
            folder = session_folder(home, follows)
            metadata = read_metadata(folder)
        except SessionError:
            if not found:
                raise
            break
        found.insert(0, (metadata.query, _summary(folder)))
        follows = metadata.follows
    return found


def _summary(folder: Path) -> str:
    """What a report says first of all: its summary, or its only topic. "" where there is none."""
    try:
        result = read_result(folder)
    except SessionUnreadable:
        return ""
    sections = result.document.sections if result else ()
    found = sorted(
        (section for section in sections if section.kind in ("summary", "topic")),
        key=lambda section: section.kind != "summary",
    )
    return " ".join(sentence.text for sentence in found[0].sentences) if found else ""


def _listed(folder: Path) -> Metadata | Unreadable | None:
    if not is_session_id(folder.name):
        return None
    try:
        return read_metadata(folder)
    except SessionNotFound:
        return None
    except SessionUnreadable as error:
        return Unreadable(id=folder.name, reason=str(error))


def _read(folder: Path, name: str, kind: type[V]) -> V | None:
    """What a file holds, None where there is none."""
    try:
        return kind.model_validate_json(_bytes(folder, name))
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise _unreadable(folder, name, _wrong(error)) from None
    except SettingsError as error:
        raise _unreadable(folder, name, str(error)) from None


def _bytes(folder: Path, name: str) -> bytes:
    """Raises FileNotFoundError where there is no such file, SessionUnreadable where there is
    something in its place.
    """
    path = folder / name
    try:
        if path.exists() and not path.is_file():  # reading a pipe would never end
            raise _unreadable(folder, name, "it is no file")
        return path.read_bytes()
    except NotADirectoryError as error:
        raise FileNotFoundError(path) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise _unreadable(folder, name, error.strerror or "it cannot be read") from None


def _wrong(error: ValidationError) -> str:
    """The first thing that is wrong with a file."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(str(part) for part in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def _unreadable(folder: Path, name: str, why: str) -> SessionUnreadable:
    # What a run ended with is in its last checkpoint as well.
    anew = f"`spadework resume {folder.name}` writes it anew."
    gone = f"`spadework sessions delete {folder.name}` removes it."
    return SessionUnreadable(
        f"Session {folder.name} cannot be read: {name}: {why}"[:300].rstrip(".") + ".",
        hint=anew if name == RESULT else gone,
    )


def _entry(line: bytes) -> Evidence | None:
    try:
        return Evidence.model_validate_json(line)
    except ValidationError:
        return None

"""Read a session's files, any of which may be damaged or missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal, TypeVar

from filelock import FileLock, Timeout
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from spadework.budget import Limits
from spadework.errors import (
    SessionBusy,
    SessionError,
    SessionNotFound,
    SessionUnreadable,
    SettingsError,
)
from spadework.sessions.metrics.session_index import METADATA, RESULT
from spadework.settings import Settings
from spadework.tools.stores.private_files import is_session_id, private_folder
from spadework.values import Coverage, Evidence, Forecast, Problem, Result, Source, Value
from spadework.visible import visible

PROGRESS = "progress_tracking.json"
LEDGER = "evidence.jsonl"
JOURNAL = "session.sqlite"
#: Name of a marker file. A session has this file if it was imported, or if it repeats a question
#: and the changes since the previous run have not been delivered to the user.
UNTOLD = "undelivered"
V = TypeVar("V", bound=BaseModel)
LOCK = ".lock"
#: Seconds to wait for a session's lock (which `is_held` may hold briefly), and seconds between
#: attempts.
_MOMENT, _AGAIN = 0.2, 0.02


class Kept(BaseModel):
    """A session file's content. Ignores unknown fields, and keeps invisible characters in paths."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def read_value(folder: Path, name: str, kind: type[V]) -> V | None:
    """Return a file's content, or None if the file is missing. Raises SessionUnreadable."""
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
        if path.exists() and not path.is_file():  # reading a pipe may block forever
            raise unreadable(folder, name, "it is not a file")
        return path.read_bytes()
    except NotADirectoryError as error:
        raise FileNotFoundError(path) from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise unreadable(folder, name, error.strerror or "it cannot be read") from None


def readable_bytes(folder: Path, name: str) -> bytes:
    """Return a file's bytes, or b"" if the file is missing or unreadable."""
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
    if name == RESULT:  # the result is also in the last checkpoint
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
    """Return whether any process, including this one, has locked a session."""
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


#: Version of the session file format.
VERSION = 2
#: What a session produces: a report, pages for a query, or one page.
Kind = Literal["research", "gather", "read"]
#: Maximum number of earlier questions shown to the lead model.
MOST_EARLIER = 5
Name = Literal["plan", "search", "read", "assess", "write"]


class Phase(Kept):
    """A phase begun `after` seconds into the run. Planning is in round 0, writing in the last."""

    name: Name
    round: int
    began: datetime
    after: float
    seconds: float


class Metadata(Kept):
    """A session's metadata.
    - `status`: "" until the session ends
    - `utc_offset`: in minutes
    - `pages`: the maximum number of pages if the session gathers pages
    """

    id: str = ""
    version: int = VERSION
    created_at: AwareDatetime
    utc_offset: int = Field(default=0, gt=-1_440, lt=1_440)
    query: str
    status: str = ""
    method: str = ""
    attachments: tuple[str, ...] = ()
    follows: str = ""
    wishes: str = ""
    most_words: int = 0
    kind: Kind = "research"
    pages: int = 0
    settings: dict[str, Any] = Field(default_factory=dict)
    limits: Limits | None = None
    forecast: Forecast | None = None
    performance_metrics: dict[str, Any] = Field(default_factory=dict)
    results_summary: dict[str, Any] = Field(default_factory=dict)

    @property
    def began(self) -> datetime:
        """The creation time in the user's time zone."""
        return self.created_at.astimezone(timezone(timedelta(minutes=self.utc_offset)))


class RoundProgress(Kept):
    """The number of quotes and the topics' coverage after a round."""

    round: int
    evidence: int
    coverage: tuple[Coverage, ...] = ()


class Progress(Kept):
    """A session's state, topics, finished rounds, problems and phases."""

    state: str = "started"
    topics: tuple[str, ...] = ()
    rounds: tuple[RoundProgress, ...] = ()
    problems: tuple[Problem, ...] = ()
    phases: tuple[Phase, ...] = ()


def session_folder(home: Path, session_id: str) -> Path:
    """Return a session's folder. Raises SessionNotFound, even for an invalid id."""
    folder = home / "sessions" / session_id
    if not is_session_id(session_id) or not folder.is_dir():
        raise SessionNotFound(
            f"There is no session {session_id[:80]!r}.", hint="Run `spadework sessions` for a list."
        )
    return folder


def read_metadata(folder: Path) -> Metadata:
    """Return a session's metadata. Raises SessionNotFound or SessionUnreadable."""
    if (found := read_value(folder, METADATA, Metadata)) is None:
        if (folder / RESULT).exists():
            raise unreadable(folder, METADATA, "it is missing")
        raise SessionNotFound(
            f"There is no session {folder.name}.", hint="Run `spadework sessions` for a list."
        )
    if found.version != VERSION:
        newer = found.version > VERSION
        raise SessionUnreadable(
            f"Session {folder.name} was written by {'a newer' if newer else 'an older'} spadework"
            f" (file version {found.version}; this one supports {VERSION}).",
            hint="Update spadework to open the session." if newer else "Ask its question again.",
        )
    # The folder's name, not the file's content, identifies a session.
    return found.model_copy(update={"id": folder.name, "query": visible(found.query)})


def read_result(folder: Path) -> Result | None:
    """Return a session's result, or None if it is not finished. Raises SessionUnreadable."""
    found = read_value(folder, RESULT, Result)
    own = {"session_id": folder.name, "session_dir": str(folder)}
    return found.model_copy(update=own) if found else None


def whole_result(folder: Path) -> Result | None:
    """Return a session's result, or None if it is not finished or is damaged."""
    try:
        return read_result(folder)
    except SessionUnreadable:
        return None


def read_report(folder: Path) -> str | None:
    """Return a session's report, or None if it cannot be read."""
    for path in sorted(folder.glob("research_report_*.md"), reverse=True):
        with suppress(FileNotFoundError, SessionUnreadable, UnicodeDecodeError):
            return visible(read_bytes(folder, path.name).decode())
    return None


def take_settings(metadata: Metadata) -> tuple[dict[str, Any], str]:
    """Return the stored settings that are still valid, and a notice that names the invalid ones."""
    taken, aside = dict[str, Any](), []
    for name, value in metadata.settings.items():
        try:
            Settings(**{name: value})
        except SettingsError:
            aside.append(name[:40])
        else:
            taken[name] = value
    if not aside:
        return taken, ""
    return taken, (
        f"{METADATA} of session {metadata.id} has settings that this version does not know:"
        f" {', '.join(aside)}. The session continues without them. Remove them from the file, or"
        " use options of `resume` to set others."
    )


def make_folder(folder: Path) -> None:
    """Create a session's folder. Raises SettingsError if this fails."""
    try:
        private_folder(folder.parent)
        private_folder(folder)
    except OSError as error:
        raise SettingsError(
            f"The session folder {folder} cannot be created: {error.strerror}. Choose another with"
            " --home."
        ) from None


def read_progress(folder: Path) -> Progress:
    """Return a session's progress, which is empty if its file is missing or damaged."""
    try:
        return read_value(folder, PROGRESS, Progress) or Progress()
    except SessionUnreadable:
        return Progress()


def read_ledger(folder: Path) -> list[Evidence]:
    """Return a session's evidence so far. Damaged lines are skipped."""
    found = []
    # Split only at line feeds, because quotes may contain other line separators.
    for line in filter(None, readable_bytes(folder, LEDGER).split(b"\n")):
        with suppress(ValidationError):
            found.append(Evidence.model_validate_json(line))
    return found


def read_page(folder: Path, content_hash: str) -> str | None:
    """Return a page's text, or None if it is not stored. Raises SessionUnreadable."""
    name = f"pages/{content_hash}.md"
    if not content_hash.isalnum() or not content_hash.isascii():
        return None
    try:
        return read_bytes(folder, name).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise unreadable(folder, name, "it is not valid text") from error


def exchanges_before(home: Path, follows: str) -> list[tuple[str, str]]:
    """Return (question, summary) pairs of the session `follows` and its predecessors, oldest first.
    There are at most MOST_EARLIER pairs. Raises SessionNotFound or SessionUnreadable.
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
    result = whole_result(folder)
    sections = result.document.sections if result else ()
    found = sorted(
        (section for section in sections if section.kind in ("summary", "topic")),
        key=lambda section: section.kind != "summary",
    )
    return " ".join(sentence.text for sentence in found[0].sentences) if found else ""


_KINDS = {
    "research_report_": "report",
    "editorial_review_": "review",
    "search_workproduct_": "what was searched",
    "intelligent_research_workproduct_": "what was read",
    RESULT: "result",
    LEDGER: "evidence",
    METADATA: "metadata",
    PROGRESS: "progress",
    "events.jsonl": "events",
    JOURNAL: "journal",
    "pages/": "page",
    "links/": "links of a page",
    "figures/": "captions of a page",
    "pictures/": "picture",
}


class SessionFile(Value):
    """A session's file and its size in bytes. For a source's text, `kind` is its document type."""

    name: str
    kind: str
    size: int
    title: str = ""
    url: str = ""


def session_files(folder: Path) -> list[SessionFile]:
    """Return all files of a session, sorted by name."""
    result = whole_result(folder)
    sources = {source.content_hash: source for source in result.sources} if result else {}
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    return [_describe_file(path, folder, sources) for path in found]


def _describe_file(path: Path, folder: Path, sources: dict[str, Source]) -> SessionFile:
    name, size = path.relative_to(folder).as_posix(), path.stat().st_size
    if name.startswith("pages/") and (source := sources.get(path.stem)):
        known = {"title": source.title, "url": source.url}
        return SessionFile(name=name, kind=source.shape or "page", size=size, **known)
    kind = next((kind for start, kind in _KINDS.items() if name.startswith(start)), "other")
    return SessionFile(name=name, kind=kind, size=size)

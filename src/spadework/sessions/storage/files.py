"""Reading of a session's files. Any may be damaged: truncated by a full disk, edited by hand,
partly restored. Damage is an error of its session alone.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from spadework.budget import Limits
from spadework.errors import SessionError, SessionNotFound, SessionUnreadable, SettingsError
from spadework.sessions.drawing.phases import Phase
from spadework.sessions.storage.session_file import (
    JOURNAL,
    LEDGER,
    METADATA,
    PROGRESS,
    RESULT,
    Kept,
    read_bytes,
    read_value,
    readable_bytes,
    unreadable,
)
from spadework.settings import Settings
from spadework.tools.stores.private_files import is_session_id, private_folder
from spadework.values import Coverage, Evidence, Forecast, Problem, Result, Source, Value
from spadework.visible import visible

#: Version of a session's files. Fields missing in older ones have suitable defaults.
VERSION = 1
#: Purpose of a session: a report, the best pages for a query, one page.
Kind = Literal["research", "gather", "read"]
#: Maximum earlier questions passed to the lead.
MOST_EARLIER = 5


class Metadata(Kept):
    """What is known about a session from its start on; `status` is "" until its end. `version` is
    its files', 0 before versions existed; `utc_offset` is the minutes local time was ahead of UTC;
    `pages` is the maximum a gathering session reads.
    """

    id: str = ""
    version: int = 0
    created_at: datetime
    utc_offset: int = 0
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
    file_paths: dict[str, str] = Field(default_factory=dict)

    @property
    def began(self) -> datetime:
        """When it was created, in the asking user's local time."""
        return self.created_at.astimezone(timezone(timedelta(minutes=self.utc_offset)))


class RoundProgress(Kept):
    """One round: quotes in the ledger after it, and coverage of its topics."""

    round: int
    evidence: int
    coverage: tuple[Coverage, ...] = ()


class Progress(Kept):
    """A session's progress, and when each phase began."""

    state: str = "started"
    topics: tuple[str, ...] = ()
    rounds: tuple[RoundProgress, ...] = ()
    problems: tuple[Problem, ...] = ()
    phases: tuple[Phase, ...] = ()


def session_folder(home: Path, session_id: str) -> Path:
    """Return a session's folder. Raises SessionNotFound, also for an id that could lead
    elsewhere.
    """
    folder = home / "sessions" / session_id
    if not is_session_id(session_id) or not folder.is_dir():
        raise SessionNotFound(
            f"There is no session {session_id[:80]!r}.", hint="`spadework sessions` lists them."
        )
    return folder


def read_metadata(folder: Path) -> Metadata:
    """Return a session's metadata. Raises SessionNotFound, SessionUnreadable."""
    if (found := read_value(folder, METADATA, Metadata)) is None:
        if (folder / RESULT).exists():
            raise unreadable(folder, METADATA, "it is missing")
        raise SessionNotFound(
            f"There is no session {folder.name}.", hint="`spadework sessions` lists them."
        )
    if found.version > VERSION:
        raise SessionUnreadable(
            f"Session {folder.name} was written by a newer spadework (version {found.version} of"
            f" its files; this one knows {VERSION}).",
            hint="Update spadework to use it.",
        )
    # The session is identified by its folder, whatever its file says.
    return found.model_copy(update={"id": folder.name, "query": visible(found.query)})


def read_result(folder: Path) -> Result | None:
    """Return a session's result, None if it is unfinished. Raises SessionUnreadable."""
    return read_value(folder, RESULT, Result)


def whole_result(folder: Path) -> Result | None:
    """Return the written result, None if damaged: it is rewritten from its checkpoint."""
    try:
        return read_result(folder)
    except SessionUnreadable:
        return None


def read_report(folder: Path) -> str | None:
    """Return a session's written report, None if unreadable."""
    for path in sorted(folder.glob("research_report_*.md"), reverse=True):
        with suppress(FileNotFoundError, SessionUnreadable, UnicodeDecodeError):
            return visible(read_bytes(folder, path.name).decode())
    return None


def taken_over(metadata: Metadata) -> Metadata:
    """Return the metadata of a resumed session in this version. Raises SessionUnreadable if an
    older version did not store what a run needs: the session can only be read.
    """
    lacking = {"settings", "limits"} - metadata.model_fields_set
    if metadata.version < VERSION and lacking:
        raise SessionUnreadable(
            f"Session {metadata.id} was written by an older spadework, which did not keep its"
            f" {' and '.join(sorted(lacking))}: it can be read, not taken up.",
            hint=f"`spadework ask … --follow {metadata.id}` asks anew with what it has read.",
        )
    return metadata.model_copy(update={"version": VERSION})


def take_settings(metadata: Metadata) -> tuple[dict[str, Any], str]:
    """Return the stored settings that this version accepts, and in words which ones it ignored; ""
    if none.
    """
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
        f"{METADATA} of session {metadata.id} has settings that this version does not take:"
        f" {', '.join(aside)}. It goes on without them; name others as options of `resume`, or"
        " remove them from the file."
    )


def make_folder(folder: Path) -> None:
    """Create a session's folder. Raises SettingsError if that fails."""
    try:
        private_folder(folder.parent)
        private_folder(folder)
    except OSError as error:
        raise SettingsError(
            f"The session folder {folder} cannot be made: {error.strerror}. Choose another with"
            " --home."
        ) from None


def read_progress(folder: Path) -> Progress:
    """Return a session's progress; that of a new one if the file is missing or damaged."""
    try:
        return read_value(folder, PROGRESS, Progress) or Progress()
    except SessionUnreadable:
        return Progress()


def read_ledger(folder: Path) -> list[Evidence]:
    """Return a session's evidence so far, without unreadable lines."""
    found = []
    # Lines end with \n only: quotes may contain other line separators.
    for line in filter(None, readable_bytes(folder, LEDGER).split(b"\n")):
        with suppress(ValidationError):
            found.append(Evidence.model_validate_json(line))
    return found


def read_page(folder: Path, content_hash: str) -> str | None:
    """Return the text of a page, None if there is none. Raises SessionUnreadable."""
    name = f"pages/{content_hash}.md"
    if not content_hash.isalnum() or not content_hash.isascii():
        return None
    try:
        return read_bytes(folder, name).decode()
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise unreadable(folder, name, "it is no valid text") from error


def exchanges_before(home: Path, follows: str) -> list[tuple[str, str]]:
    """Return the questions of the session `follows` and those it follows up, oldest first, as far
    as readable, each with its report's summary. Raises SessionNotFound or SessionUnreadable for
    `follows` only.
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
    """Return a report's first section: its summary, or its only topic; "" if there is none."""
    result = whole_result(folder)
    sections = result.document.sections if result else ()
    found = sorted(
        (section for section in sections if section.kind in ("summary", "topic")),
        key=lambda section: section.kind != "summary",
    )
    return " ".join(sentence.text for sentence in found[0].sentences) if found else ""


#: Kinds of files by name prefix.
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
}


class SessionFile(Value):
    """A file: its name in the session's folder, its kind and size in bytes; for a stored page its
    title and URL. `kind` of such a page is its type, such as "PDF".
    """

    name: str
    kind: str
    size: int
    title: str = ""
    url: str = ""


def session_files(folder: Path) -> list[SessionFile]:
    """Return all files of a session, by name; pages without a known source are included."""
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

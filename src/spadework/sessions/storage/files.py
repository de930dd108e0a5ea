"""The files of a session, as they are read back. Any of them may be broken: cut off by a full disk,
edited by hand, restored in part. One that is broken is an error of its session alone.
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

#: The version of a session's files. What an older one lacks has a value that stands for that.
VERSION = 1
#: What a session is for: a report, the best pages for a query, one page.
Kind = Literal["research", "gather", "read"]
#: Questions before this one that are told to the lead, at most.
MOST_EARLIER = 5


class Metadata(Kept):
    """What is known of a session from its start on, and in the end; `status` is "" until then.
    `version` is that of its files, 0 where they are from before there were versions; `utc_offset`
    is by how many minutes local time was ahead of UTC; `pages` is how many a session that gathers
    shall read at most.
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
        """When it was created, in the local time of whoever asked."""
        return self.created_at.astimezone(timezone(timedelta(minutes=self.utc_offset)))


class RoundProgress(Kept):
    """One round: how many quotes the ledger holds after it, and how far its topics are proven."""

    round: int
    evidence: int
    coverage: tuple[Coverage, ...] = ()


class Progress(Kept):
    """How far a session is, and when which phase of it began."""

    state: str = "started"
    topics: tuple[str, ...] = ()
    rounds: tuple[RoundProgress, ...] = ()
    problems: tuple[Problem, ...] = ()
    phases: tuple[Phase, ...] = ()


def session_folder(home: Path, session_id: str) -> Path:
    """The folder of a session. Raises SessionNotFound, also for an id that could lead elsewhere."""
    folder = home / "sessions" / session_id
    if not is_session_id(session_id) or not folder.is_dir():
        raise SessionNotFound(
            f"There is no session {session_id[:80]!r}.", hint="`spadework sessions` lists them."
        )
    return folder


def read_metadata(folder: Path) -> Metadata:
    """The metadata of a session folder. Raises SessionNotFound, SessionUnreadable."""
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
    # The folder is what the session is found by, whatever stands in its file.
    return found.model_copy(update={"id": folder.name, "query": visible(found.query)})


def read_result(folder: Path) -> Result | None:
    """The result of a session, None of one that is not finished. Raises SessionUnreadable."""
    return read_value(folder, RESULT, Result)


def whole_result(folder: Path) -> Result | None:
    """The written result, None for one that is broken: it is written anew from its checkpoint."""
    try:
        return read_result(folder)
    except SessionUnreadable:
        return None


def read_report(folder: Path) -> str | None:
    """The report of a session as it was written down, None where none can be read."""
    for path in sorted(folder.glob("research_report_*.md"), reverse=True):
        with suppress(FileNotFoundError, SessionUnreadable, UnicodeDecodeError):
            return visible(read_bytes(folder, path.name).decode())
    return None


def taken_over(metadata: Metadata) -> Metadata:
    """The metadata of a session that is taken up, in this version. Raises SessionUnreadable where
    an older one has not kept what a run needs: the session can only be read.
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
    """Return the kept settings that this version takes, and in words which ones it set aside; ""
    where it takes all.
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
    """Return how far a session is; as just begun where the file is missing or broken."""
    try:
        return read_value(folder, PROGRESS, Progress) or Progress()
    except SessionUnreadable:
        return Progress()


def read_ledger(folder: Path) -> list[Evidence]:
    """The evidence of a session so far, without the lines that cannot be read."""
    found = []
    # Lines end with \n only: a quote may hold other characters that end a line elsewhere.
    for line in filter(None, readable_bytes(folder, LEDGER).split(b"\n")):
        with suppress(ValidationError):
            found.append(Evidence.model_validate_json(line))
    return found


def read_page(folder: Path, content_hash: str) -> str | None:
    """The text of a page that was read, None where there is none. Raises SessionUnreadable."""
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
    result = whole_result(folder)
    sections = result.document.sections if result else ()
    found = sorted(
        (section for section in sections if section.kind in ("summary", "topic")),
        key=lambda section: section.kind != "summary",
    )
    return " ".join(sentence.text for sentence in found[0].sentences) if found else ""


#: What the files are, by how their names begin.
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
    """A file: its name in the folder of the session, what it is, its size in bytes, and of a page
    as it was read its title and address. `kind` of such a page is what came, such as "PDF".
    """

    name: str
    kind: str
    size: int
    title: str = ""
    url: str = ""


def session_files(folder: Path) -> list[SessionFile]:
    """All files of a session, by name; a page that no source is known of is a page."""
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

"""The files of a session, each with what it is; the pages as they were read."""

from __future__ import annotations

from pathlib import Path

from spadework.sessions.file_names import JOURNAL, LEDGER, METADATA, PROGRESS, RESULT
from spadework.sessions.files import whole_result
from spadework.values import Source, Value

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

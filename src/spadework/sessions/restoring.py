"""What is known of a session, put together anew from the files that can still be read."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zstandard
from pydantic import TypeAdapter, ValidationError

from spadework.events import Started
from spadework.sessions.file_check import no_file, open_database
from spadework.sessions.file_names import JOURNAL, METADATA
from spadework.sessions.files import VERSION, Metadata, read_report, whole_result
from spadework.sessions.log import read_log
from spadework.sessions.session_file import readable_bytes
from spadework.tools.text.markdown_marks import plain

_BRIEF = (
    "SELECT packed FROM bodies WHERE hash = (SELECT json_extract(pieces, '$[0][1]') FROM exchanges"
    " WHERE kind = 'brief' ORDER BY number DESC LIMIT 1)"
)
#: The fields that the journal tells of what was asked.
_ASKED = ("attachments", "follows", "wishes", "most_words")


@dataclass(frozen=True)
class Restored:
    """Metadata, and in words where they were found."""

    metadata: Metadata
    source: str


def restore_metadata(folder: Path) -> Restored | None:
    """The metadata of a session whose own cannot be read, None where nothing tells its question."""
    found = [
        ("what is left of it", _salvage_fields(folder)),
        ("its result", _of_result(folder)),
        ("its journal", _brief(folder / JOURNAL)),
        ("its log", _of_log(folder)),
        ("its report", _of_report(folder)),
    ]
    known: dict[str, Any] = {}
    for _, told in reversed(found):
        known |= told
    source = next((name for name, told in found if told.get("query")), None)
    if source is None:
        return None
    began = {"id": folder.name, "version": VERSION, "created_at": _began(folder)}
    return Restored(Metadata.model_validate(began | known), source)


def _salvage_fields(folder: Path) -> dict[str, Any]:
    """The fields of broken metadata that are what they should be."""
    kept: dict[str, Any] = {}
    with suppress(ValueError, RecursionError):
        told = json.loads(readable_bytes(folder, METADATA))
        for name, value in told.items() if isinstance(told, dict) else ():
            with suppress(ValidationError):
                if name in Metadata.model_fields and name not in ("id", "version"):
                    field = Metadata.model_fields[name]
                    shape: TypeAdapter[Any] = TypeAdapter(field.rebuild_annotation())
                    kept[name] = shape.validate_python(value)
    return kept


def _of_result(folder: Path) -> dict[str, Any]:
    result = whole_result(folder)
    if result is None:
        return {}
    return {"query": result.question, "status": result.status, "method": result.mode}


def _of_log(folder: Path) -> dict[str, Any]:
    for event in read_log(folder):
        if isinstance(event, Started):
            return {"query": event.question, "follows": event.follows}
    return {}


def _of_report(folder: Path) -> dict[str, Any]:
    title = (read_report(folder) or "").partition("\n")[0]
    return {"query": plain(title.removeprefix("# "))} if title.startswith("# ") else {}


def _brief(journal: Path) -> dict[str, Any]:
    """What was asked, as the journal has noted it."""
    if no_file(journal):  # SQLite would wait for a pipe
        return {}
    with suppress(sqlite3.Error, OSError, ValueError, zstandard.ZstdError):
        with closing(open_database(journal)) as db:
            found = db.execute(_BRIEF).fetchone()
        told = json.loads(zstandard.decompress(found[0])) if found else {}
        if isinstance(told, dict) and "question" in told:
            asked = {name: told[name] for name in _ASKED if name in told}
            return {"query": told["question"], **asked}
    return {}


def _began(folder: Path) -> datetime:
    """When a session began: its id says so, else the files of its folder."""
    with suppress(ValueError):
        return datetime.strptime(folder.name[:15], "%Y%m%d-%H%M%S").replace(tzinfo=UTC)
    return datetime.fromtimestamp(folder.stat().st_mtime, UTC)

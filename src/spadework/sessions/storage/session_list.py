"""All sessions of a home, newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spadework.errors import SessionNotFound, SessionUnreadable
from spadework.sessions.metrics.session_index import Drawn, View, view_sessions
from spadework.sessions.storage.session_file import METADATA

if TYPE_CHECKING:
    from spadework.values import CoverageState


class Listed(NamedTuple):
    """A session in a list. `status` is "" until it has a report, `unreadable` says why its metadata
    cannot be read, and `found` is its coverage, if any.
    """

    id: str
    query: str = ""
    status: str = ""
    began: str = ""
    unreadable: str = ""
    kind: str = "research"
    found: CoverageState | None = None

    @property
    def created_at(self) -> datetime:
        """When the session began."""
        return datetime.fromisoformat(self.began)


def list_sessions(home: Path, notify: Callable[[str], None] | None = None) -> Iterator[Listed]:
    """Yield all sessions, newest first. `notify` receives a message if that takes long."""
    return (Listed(id_, *value) for id_, value in view_sessions(home, _VIEW, notify))


def readable_sessions(home: Path) -> Iterator[Listed]:
    """Yield the sessions with readable metadata, newest first."""
    return (listed for listed in list_sessions(home) if not listed.unreadable)


def _draw(folder: Path) -> Drawn:
    from spadework.sessions.storage.files import (
        read_metadata,  # slow to import, and rarely needed
    )

    try:
        read = read_metadata(folder)
    except SessionNotFound:
        return Drawn(None, kept=False)  # depends on files that the index does not check
    except SessionUnreadable as error:
        return Drawn(["", "", "", str(error)], kept=False)
    began = read.created_at.isoformat()
    return Drawn(
        [read.query, read.status, began, "", read.kind, _coverage_state(read.results_summary)]
    )


def _coverage_state(summary: Mapping[str, object]) -> CoverageState | None:
    from spadework.values import state_as_whole

    counts = [summary.get(name) for name in ("topics", "covered", "evidence")]
    return state_as_whole(*(count if isinstance(count, int) else 0 for count in counts))


_VIEW = View("list", (METADATA,), _draw)

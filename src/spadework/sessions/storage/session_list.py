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
    """A session as lists show it. `status` is "" until it has a report; `unreadable` says why not
    even its metadata can be read, "" where they can; `kind` is that of its brief; `found` is how
    far its topics are proven as a whole, None where it has no report or had no topics.
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


def list_sessions(home: Path, told: Callable[[str], None] | None = None) -> Iterator[Listed]:
    """All sessions, newest first. `told` hears a sentence where their index must be made."""
    return (Listed(id_, *value) for id_, value in view_sessions(home, _VIEW, told))


def readable_sessions(home: Path) -> Iterator[Listed]:
    """The sessions whose metadata can be read, newest first."""
    return (listed for listed in list_sessions(home) if not listed.unreadable)


def _draw(folder: Path) -> Drawn:
    from spadework.sessions.storage.files import (
        read_metadata,  # heavy, and only for what has changed
    )

    try:
        read = read_metadata(folder)
    except SessionNotFound:
        return Drawn(None, kept=False)  # other files than its metadata decide on that
    except SessionUnreadable as error:
        return Drawn(["", "", "", str(error)], kept=False)
    began = read.created_at.isoformat()
    return Drawn([read.query, read.status, began, "", read.kind, _found(read.results_summary)])


def _found(summary: Mapping[str, object]) -> CoverageState | None:
    """How far a report's topics are proven, by the counts in its metadata; None without them."""
    from spadework.values import state_as_whole

    counts = [summary.get(name) for name in ("topics", "covered", "evidence")]
    return state_as_whole(*(count if isinstance(count, int) else 0 for count in counts))


_VIEW = View("list", (METADATA,), _draw)

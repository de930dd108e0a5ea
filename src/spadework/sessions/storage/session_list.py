"""List a home folder's sessions, and delete old single-page sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spadework.errors import SessionError, SessionNotFound, SessionUnreadable
from spadework.sessions.metrics.session_index import METADATA, Drawn, View, view_sessions
from spadework.sessions.record.records import delete_session
from spadework.tools.stores.disk import on_disk

if TYPE_CHECKING:
    from spadework.values import CoverageState

PAGE_AGE = timedelta(days=30)


class Listed(NamedTuple):
    """A session in a list.
    - `status`: "" until there is a report
    - `unreadable`: the reason why the metadata cannot be read, or ""
    - `found`: how well the session's topics were answered, or None
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
        """The time when the session began."""
        return datetime.fromisoformat(self.began)


def list_sessions(home: Path, notify: Callable[[str], None] | None = None) -> Iterator[Listed]:
    """Yield all sessions, newest first. `notify` receives a message if listing them is slow."""
    return (Listed(id_, *value) for id_, value in view_sessions(home, _VIEW, notify))


def readable_sessions(home: Path) -> Iterator[Listed]:
    """Yield the sessions with readable metadata, newest first."""
    return (listed for listed in list_sessions(home) if not listed.unreadable)


def _draw(folder: Path) -> Drawn:
    from spadework.sessions.storage.files import read_metadata  # slow to import, and rarely needed

    try:
        read = read_metadata(folder)
    except SessionNotFound:
        return Drawn(None, kept=False)  # not kept: depends on files that the index does not check
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


async def prune(home: Path, age: timedelta = PAGE_AGE) -> list[str]:
    """Delete idle single-page sessions older than `age`, and return their ids. Raises OSError."""
    return await on_disk(_prune_sessions, home, age)


def _prune_sessions(home: Path, age: timedelta) -> list[str]:
    before = datetime.now(UTC) - age
    gone = []
    for listed in readable_sessions(home):
        if listed.kind == "read" and listed.created_at < before:
            # The session may be in use, or owned by another user.
            with suppress(SessionError, OSError):
                delete_session(home, listed.id)
                gone.append(listed.id)
    return gone

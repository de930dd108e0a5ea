"""Keep the date of a session, so that resumed and replayed runs use the same one."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import datetime

_began: ContextVar[datetime | None] = ContextVar("began", default=None)


def set_today(moment: datetime) -> None:
    """Set `today` for the current task and its children."""
    _began.set(moment)


def today() -> datetime:
    """Return the session's start in its time zone; outside a session, the local time."""
    return _began.get() or datetime.now().astimezone()

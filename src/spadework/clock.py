"""The date of a session in the user's local time: resumed and replayed runs compute with the same
one.
"""

from __future__ import annotations

from contextvars import ContextVar
from datetime import datetime

_began: ContextVar[datetime | None] = ContextVar("began", default=None)


def set_today(moment: datetime) -> None:
    """Set `today` for the current task and its children."""
    _began.set(moment)


def today() -> datetime:
    """Return when the session began, at its place; without a session, the local time (TZ)."""
    return _began.get() or datetime.now().astimezone()

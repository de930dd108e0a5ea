"""The day of a session, by the local time of whoever asks: what it reckons with a date is the same
when it is taken up or replayed.
"""

from __future__ import annotations

from contextvars import ContextVar
from datetime import datetime

_began: ContextVar[datetime | None] = ContextVar("began", default=None)


def set_today(moment: datetime) -> None:
    """Let `today` be this moment for the task that calls this, and for those it starts."""
    _began.set(moment)


def today() -> datetime:
    """Return when the session began, where it began; without a session now, in local time (TZ)."""
    return _began.get() or datetime.now().astimezone()

"""The day of a session: what it reckons with a date is the same when it is taken up or replayed."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import UTC, datetime

_began: ContextVar[datetime | None] = ContextVar("began", default=None)


def set_today(moment: datetime) -> None:
    """Let `today` be this moment for the task that calls this, and for those it starts."""
    _began.set(moment)


def today() -> datetime:
    """When the session began; now where there is none."""
    return _began.get() or datetime.now(UTC)

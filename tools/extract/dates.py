"""Dates as formats write them: ISO 8601, and that of e-mail."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def moment(written: str) -> datetime | None:
    """The moment a text names, taken for UTC where it names no zone; None where it names none."""
    written = written.strip()
    for reader in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            found = reader(written)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None

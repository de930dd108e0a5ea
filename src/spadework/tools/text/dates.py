"""Dates as pages, files and services write them, as moments in UTC."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

from spadework.clock import today

_FORMATS = (
    "%B %d, %Y", "%b %d, %Y", "%d %B %Y", "%d %b %Y", "%Y/%m/%d", "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S", "%Y.%m.%d", "%Y %b %d", "%Y %b", "%Y-%m", "%Y",
)  # fmt: skip
_OFFSET = re.compile(r"(?<=\d)\s+([+-]\d\d:?\d\d)$")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th)\b")
_AGO = re.compile(r"(\d{1,3}|an?) (minute|hour|day|week|month|year)s? ago", re.IGNORECASE)
_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}


def moment(written: Any, *, now: datetime | None = None) -> datetime | None:
    """The moment that a text names, in UTC: ISO 8601, RFC 5322, "3 March 2026", "2 days ago".

    Without a zone it is UTC. None for anything else, and for a year before 1900 or after the next.
    "ago" counts from `now`.
    """
    if not isinstance(written, str):
        return None
    text = _OFFSET.sub(r"\1", written.strip()[:60])
    found = _ago(text, now) or _written(text)
    if found is None:
        return None
    try:
        found = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except OverflowError:
        return None
    return found if 1900 <= found.year <= today().year + 1 else None


def _ago(text: str, now: datetime | None) -> datetime | None:
    match = _AGO.fullmatch(text)
    if not match:
        return None
    count = int(match[1]) if match[1].isdecimal() else 1
    return (now or today()) - timedelta(days=count * _DAYS[match[2].lower()])


def _written(text: str) -> datetime | None:
    plain = _ORDINAL.sub("", text)
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    with suppress(ValueError, IndexError, TypeError, OverflowError):
        if ":" in text:
            return parsedate_to_datetime(text)
    for form in _FORMATS:
        with suppress(ValueError):
            return datetime.strptime(plain, form).replace(tzinfo=UTC)
    return None

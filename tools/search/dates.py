"""The dates that search services write, as moments with a time zone."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

_FORMATS = ("%b %d, %Y", "%B %d, %Y", "%d %b %Y", "%Y/%m/%d %H:%M", "%Y/%m/%d", "%Y %b %d", "%Y %b")
_AGO = re.compile(r"(\d{1,3}|an?) (minute|hour|day|week|month|year)s? ago", re.IGNORECASE)
_DAYS = {"minute": 1 / 1440, "hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}


def moment(text: Any, *, now: datetime | None = None) -> datetime | None:
    """The moment that a text names, UTC where it names no time zone: ISO 8601, RFC 5322, "Mar 3, 2026", "2026/03/03", "2 days ago".

    None for anything else. `now` is what "ago" counts from; without it, the present.
    """
    if not isinstance(text, str):
        return None
    words = text.strip()
    date = _ago(words, now) or _iso(words) or _written(words) or _mail(words)
    return date if date is None or date.tzinfo else date.replace(tzinfo=UTC)


def _ago(text: str, now: datetime | None) -> datetime | None:
    match = _AGO.fullmatch(text)
    if not match:
        return None
    count = int(match[1]) if match[1].isdecimal() else 1
    return (now or datetime.now(UTC)) - timedelta(days=count * _DAYS[match[2].lower()])


def _iso(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def _written(text: str) -> datetime | None:
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None


def _mail(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except (ValueError, OverflowError):
        return None

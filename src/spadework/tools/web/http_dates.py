"""Dates and waits in headers of HTTP, whatever a server has written there."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def http_date(value: str) -> datetime | None:
    """The moment in a header such as Date, in UTC; None where it names none."""
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def retry_after(value: str) -> float | None:
    """Seconds from Retry-After, a number or a date (RFC 9110, 10.2.3); None without either."""
    if (number := value.strip()).isdecimal():
        return float(number[:9])
    until = http_date(value)
    return None if until is None else max(0.0, (until - datetime.now(UTC)).total_seconds())

"""Dates and delays in HTTP headers, including malformed ones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: Requests left in each rate-limit window, and the seconds or the time until it ends.
RATE_LIMIT_HEADERS = ("x-ratelimit-remaining", "x-ratelimit-reset")
#: A larger number is a Unix time, not a delay.
_MOST_WAIT = 1e9
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def http_date(value: str) -> datetime | None:
    """Return the UTC time in a header such as Date, None if it is not a date."""
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def retry_after(value: str) -> float | None:
    """Return the seconds in Retry-After, a number or a date (RFC 9110, 10.2.3); None if neither."""
    if (number := value.strip()).isdecimal():
        return float(number[:9])
    until = http_date(value)
    return None if until is None else max(0.0, (until - datetime.now(UTC)).total_seconds())


def rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until every exhausted window has ended; None if unknown.

    Windows are listed, as in `X-RateLimit-Remaining: 0, 1985` and `X-RateLimit-Reset: 1, 1200000`.
    Without the first header, the window that ends first counts.
    """
    left, ends = (
        [float(number) for number in _NUMBER.findall(headers.get(name, ""))]
        for name in RATE_LIMIT_HEADERS
    )
    now = datetime.now(UTC).timestamp()
    waits = [max(0.0, end - now) if end > _MOST_WAIT else end for end in ends]
    if len(left) == len(waits):
        return max((wait for some, wait in zip(left, waits, strict=True) if not some), default=None)
    return min(waits, default=None)

"""Dates and waits in headers of HTTP, whatever a server has written there."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

#: What is left in each window of a rate limit, and the seconds or the moment at which it ends.
RATE_LIMIT_HEADERS = ("x-ratelimit-remaining", "x-ratelimit-reset")
#: A larger number is a moment in seconds since 1970, not a wait.
_MOST_WAIT = 1e9
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


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


def rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until every window in which nothing is left ends; None where unknown.

    Windows stand in a list, as in `X-RateLimit-Remaining: 0, 1985` and `X-RateLimit-Reset: 1,
    1200000`; without the first header, the one that ends first is meant.
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

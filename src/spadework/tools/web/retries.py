"""Retry operations without logging, which is up to the calling program."""

from __future__ import annotations

import random
import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

T = TypeVar("T")
LONGEST = 5.0


async def ask_again(
    ask: Callable[[], Awaitable[T]],
    worth: Callable[[BaseException], bool | float],
    most: int,
    *,
    first: float = 0.1,
    jitter: float = 1.0,
) -> T:
    """Return the result of `ask` within `most` attempts, or raise its last error.
    `worth` returns whether to retry, or after how many seconds. Otherwise pauses grow from `first`
    seconds, with up to `jitter` seconds added.
    """

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        said = worth(error) if error else True
        if not isinstance(said, bool):
            return said
        return min(LONGEST, first * 2.0 ** (state.attempt_number - 1) + random.uniform(0, jitter))

    retrying = AsyncRetrying(
        # Zero seconds also means to retry.
        retry=retry_if_exception(lambda error: worth(error) is not False),
        stop=stop_after_attempt(most),
        wait=pause,
        reraise=True,
    )
    return await retrying(ask)


#: Headers with the requests left in each window and with its end, in seconds or as a time.
RATE_LIMIT_HEADERS = ("x-ratelimit-remaining", "x-ratelimit-reset")
#: Number above which a value is a Unix time, not a delay in seconds.
_MOST_WAIT = 1e9
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def http_date(value: str) -> datetime | None:
    """Parse the time in a header such as Date, in UTC, or return None."""
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def retry_after(value: str) -> float | None:
    """Parse Retry-After, a number or a date, into seconds (RFC 9110, 10.2.3), or return None."""
    if (number := value.strip()).isdecimal():
        return float(number[:9])
    until = http_date(value)
    return None if until is None else max(0.0, (until - datetime.now(UTC)).total_seconds())


def rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until all exhausted windows have ended, or None if unknown.
    Headers list windows, as in `X-RateLimit-Remaining: 0, 1985` and `X-RateLimit-Reset: 1,
    1200000`. If the first header is missing, the window that ends first counts.
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

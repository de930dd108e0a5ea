"""Retry without logging, which is up to the calling program."""

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
    `worth` says whether to retry, or after how many seconds. Otherwise the pause grows from
    `first`, with up to `jitter` seconds added.
    """

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        said = worth(error) if error else True
        if not isinstance(said, bool):
            return said
        return min(LONGEST, first * 2.0 ** (state.attempt_number - 1) + random.uniform(0, jitter))

    retrying = AsyncRetrying(
        # Zero seconds also means retry.
        retry=retry_if_exception(lambda error: worth(error) is not False),
        stop=stop_after_attempt(most),
        wait=pause,
        reraise=True,
    )
    return await retrying(ask)


#: The requests left in each window, and the seconds or the time until it ends.
RATE_LIMIT_HEADERS = ("x-ratelimit-remaining", "x-ratelimit-reset")
#: A larger number is a Unix time, not a delay.
_MOST_WAIT = 1e9
_NUMBER = re.compile(r"\d{1,15}(?:\.\d{1,9})?")


def http_date(value: str) -> datetime | None:
    """Return the time (UTC) in a header such as Date, None if it has none."""
    try:
        moment = parsedate_to_datetime(value)
        return moment.replace(tzinfo=moment.tzinfo or UTC).astimezone(UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def retry_after(value: str) -> float | None:
    """Return the seconds in Retry-After, a number or a date (RFC 9110, 10.2.3), or None."""
    if (number := value.strip()).isdecimal():
        return float(number[:9])
    until = http_date(value)
    return None if until is None else max(0.0, (until - datetime.now(UTC)).total_seconds())


def rate_limit_reset(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until all exhausted windows have ended, None if unknown.
    Windows are listed, as in `X-RateLimit-Remaining: 0, 1985` and `X-RateLimit-Reset: 1, 1200000`.
    If the first header is missing, the window that ends first counts.
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

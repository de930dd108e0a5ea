"""Retries without logging, which belongs to the calling program."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

T = TypeVar("T")
#: The longest backoff, in seconds.
LONGEST = 5.0


async def ask_again(
    ask: Callable[[], Awaitable[T]],
    worth: Callable[[BaseException], bool | float],
    most: int,
    *,
    first: float = 0.1,
    jitter: float = 1.0,
) -> T:
    """Return what `ask` returns within `most` attempts; raise its last error. `worth` says whether
    to retry, or after how many seconds. Backoff grows from `first` with up to `jitter` seconds
    added.
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

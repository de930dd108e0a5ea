"""Asking again without logging: output and libraries' settings belong to who uses us."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

T = TypeVar("T")
#: The longest growing pause, in seconds.
LONGEST = 5.0


async def ask_again(
    ask: Callable[[], Awaitable[T]],
    worth: Callable[[BaseException], bool | float],
    most: int,
    *,
    first: float = 0.1,
    jitter: float = 1.0,
) -> T:
    """What `ask` gives in `most` attempts; the last error is raised. `worth` says whether or when
    to ask again. Pauses grow from `first`, each by up to `jitter` more.
    """

    def pause(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        said = worth(error) if error else True
        if not isinstance(said, bool):
            return said
        return min(LONGEST, first * 2.0 ** (state.attempt_number - 1) + random.uniform(0, jitter))

    retrying = AsyncRetrying(
        # Zero seconds are no "no".
        retry=retry_if_exception(lambda error: worth(error) is not False),
        stop=stop_after_attempt(most),
        wait=pause,
        reraise=True,
    )
    return await retrying(ask)

"""The result of fetching a URL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from spadework.errors import FetchError
from spadework.values import Attempt


@dataclass(frozen=True)
class Fetched:
    """A response: its URL after redirects and its decoded body. `media_type` is lower-case;
    `charset` is the header's or "". `from_cache`: cached earlier, at `dated`; `stale`: possibly
    outdated, since its server could not be reached. `attempts` led to it.
    """

    url: str
    status: int
    media_type: str
    charset: str
    body: bytes
    level: int = 0
    from_cache: bool = False
    stale: bool = False
    dated: datetime | None = None
    attempts: tuple[Attempt, ...] = ()


def ended_in(error: FetchError, attempts: Sequence[Attempt]) -> FetchError:
    """Attach the attempts to the error, which ended the last of them, and return it."""
    last = [attempt.model_copy(update={"reason": str(error)}) for attempt in attempts[-1:]]
    error.attempts = (*attempts[:-1], *last)
    return error

"""What fetching a URL gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from spadework.errors import FetchError
from spadework.values import Attempt


@dataclass(frozen=True)
class Fetched:
    """An answer: its URL after redirects, its body without content encoding. `media_type` is
    lower-case, `charset` the header's or "". `from_cache`: kept from an earlier fetch, `dated`
    then; `stale`: maybe out of date, its server could not be reached. `attempts` are all that led
    to it.
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
    """Return the error with the attempts that led to it; the last of them ended in it."""
    last = [attempt.model_copy(update={"reason": str(error)}) for attempt in attempts[-1:]]
    error.attempts = (*attempts[:-1], *last)
    return error

"""How long a document may be read: what was read of a long one until then is its text."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: The share of the time there is that goes into the pages; the rest is for what is made of them.
SHARE = 0.5

_until: ContextVar[float] = ContextVar("reading_until", default=math.inf)


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Documents that are read here have so many `seconds`."""
    token = _until.set(time.monotonic() + SHARE * seconds)
    try:
        yield
    finally:
        _until.reset(token)


def reading_until() -> float:
    """When the last page is to be read, on `time.monotonic`; never, where nobody waits."""
    return _until.get()

"""When requests ran: how many at once, how many one after the other, and waiting until something is
so.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import Protocol


class Span(Protocol):
    """Something with a beginning and an end, such as a request."""

    @property
    def started(self) -> float:
        """On the clock of `time.monotonic`."""
        ...

    @property
    def ended(self) -> float | None:
        """None while it lasts."""
        ...


def depth(spans: Iterable[Span]) -> int:
    """The longest chain of spans of which each began after the one before had ended.

    It is the critical path in calls, when every answer takes much longer (`model.delay = 0.2`) than
    starting a wave does.
    """
    chains: list[tuple[float, int]] = []
    for span in sorted(spans, key=lambda span: span.started):
        before = max((length for ended, length in chains if ended <= span.started), default=0)
        chains.append((_end(span), before + 1))
    return max((length for _, length in chains), default=0)


def peak(spans: Iterable[Span]) -> int:
    """The most spans that lasted at the same time."""
    moments = [moment for span in spans for moment in ((span.started, 1), (_end(span), -1))]
    return max(accumulate(change for _, change in sorted(moments)), default=0)


async def eventually(condition: Callable[[], object], seconds: float = 10.0) -> None:
    """Return as soon as `condition` holds. Raises TimeoutError after `seconds`."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("the condition did not come true")
        await asyncio.sleep(0.005)


def _end(span: Span) -> float:
    return float("inf") if span.ended is None else span.ended

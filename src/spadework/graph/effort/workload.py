"""Set how many queries and pages workers get."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import NamedTuple, TypeVar

from spadework.settings import Effort, Settings
from spadework.tools.ranking.selection import PRESETS
from spadework.values import Complexity, Plan

T = TypeVar("T")


class Stopped(Exception):
    """Raised when the user wants the report now."""


async def unless_stopped(stop: asyncio.Event, work: Awaitable[T], *, seconds: float) -> T:
    """Return the result of `work`. Raises TimeoutError after `seconds`, or Stopped on `stop`."""
    doing = asyncio.ensure_future(work)
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait(
            (doing, stopping), timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED
        )
        if doing.done():
            return doing.result()
        raise Stopped if stopping.done() else TimeoutError
    finally:
        doing.cancel()
        stopping.cancel()
        await asyncio.gather(doing, stopping, return_exceptions=True)


#: Maximum topics in a model's plan, by effort.
MOST_TOPICS: dict[Effort, int] = {"quick": 3, "normal": 6, "deep": 12}
QUERIES = 4
# The next two limits apply only with a model, which fills gaps in later rounds. Without a model,
# runs limited to so few pages missed answers (benchmarks/README.md).
SIMPLE_QUERIES = 3
SIMPLE_PAGES = 6
#: Maximum number of recommended queries searched per topic in a later round, and the time limit of
#: each query in seconds.
GAP_QUERIES, GAP_SECONDS = 3, 30.0
#: At normal effort, a worker that fills a gap in a topic's evidence reads at most this many pages.
GAP_PAGES = 5
#: At deep effort, a worker's maximum number of pages (from the setting `preset`) is multiplied by
#: this factor, which depends on the plan's complexity.
DEEP_TIMES: dict[Complexity, int] = {"simple": 2, "moderate": 4, "complex": 4}
DEEP_GAP_TIMES = 2
#: Replaces DEEP_TIMES in runs without a model, where extra pages cost little.
DEEP_TIMES_ALONE = 20


class Workload(NamedTuple):
    """One worker's maximum queries and pages. With `broad`, a page that several workers read in the
    first round counts towards only one worker's maximum. With `reads_on`, workers on open topics
    also read hits left over from earlier searches.
    """

    queries: int
    pages: int
    gap_queries: int
    gap_pages: int
    gap_seconds: float
    broad: bool = False
    reads_on: bool = False


def workload(plan: Plan, settings: Settings, *, model: bool) -> Workload:
    """Return each worker's workload. `model` says whether a model judges the evidence."""
    most, deep = PRESETS[settings.preset][1], settings.effort == "deep"
    simple = model and (plan.complexity == "simple" or settings.effort == "quick")
    pages = min(SIMPLE_PAGES, most) if simple else most
    times = DEEP_TIMES[plan.complexity] if model else DEEP_TIMES_ALONE
    return Workload(
        queries=SIMPLE_QUERIES if simple and not deep else QUERIES,
        pages=most * times if deep else pages,
        gap_queries=GAP_QUERIES,
        gap_pages=min(GAP_PAGES, most) * (DEEP_GAP_TIMES if deep else 1),
        gap_seconds=GAP_SECONDS,
        broad=deep,
        reads_on=not model,
    )

"""Work per question: queries and pages of workers, by complexity and effort (S3)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import NamedTuple, TypeVar

from spadework.settings import Settings
from spadework.tools.ranking.selection import PRESETS
from spadework.values import Complexity, Plan

T = TypeVar("T")


class Stopped(Exception):
    """The user wants the report now; the work was cancelled."""


async def unless_stopped(stop: asyncio.Event, work: Awaitable[T], *, seconds: float) -> T:
    """Return what `work` returns. Raises TimeoutError after `seconds`, Stopped when `stop` is set
    first.
    """
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


#: Queries per topic in the first round.
QUERIES = 4
#: Where a model names gaps, a simple question is one worker with at most 10 searches and pages, one
#: page spare; at quick effort every topic is as small. Without a model pages are all there is, so
#: none is saved: with so few, answers were missed (benchmarks/README.md).
SIMPLE_QUERIES, SIMPLE_PAGES = 3, 6
#: Pages of a worker that fills gaps, at normal effort.
GAP_PAGES = 5
#: Factor on the preset's pages at deep effort; the page limit bounds complex questions.
DEEP_TIMES: dict[Complexity, int] = {"simple": 2, "moderate": 4, "complex": 4}
DEEP_GAP_TIMES = 2
#: The same without a model, to which a page costs only its reading.
DEEP_TIMES_ALONE = 20


class Workload(NamedTuple):
    """Maximum queries and pages of one worker, in the first round and for gaps, and the seconds of
    a gap search. `broad`: pages that another worker reads too do not count in the first round;
    `reads_on`: every open topic also uses hits left unread, not only those without queries.
    """

    queries: int
    pages: int
    gap_queries: int
    gap_pages: int
    gap_seconds: float
    broad: bool = False
    reads_on: bool = False


def workload(plan: Plan, settings: Settings, *, model: bool) -> Workload:
    """Return the work of a plan's workers; `model`: one judges it. Rounds do not depend on
    complexity: further ones only search what is open.
    """
    most, deep = PRESETS[settings.preset][1], settings.effort == "deep"
    simple = model and (plan.complexity == "simple" or settings.effort == "quick")
    pages = min(SIMPLE_PAGES, most) if simple else most
    times = DEEP_TIMES[plan.complexity] if model else DEEP_TIMES_ALONE
    standard = settings.standard(plan.question_type)
    return Workload(
        queries=SIMPLE_QUERIES if simple and not deep else QUERIES,
        pages=most * times if deep else pages,
        gap_queries=standard.searches,
        gap_pages=min(GAP_PAGES, most) * (DEEP_GAP_TIMES if deep else 1),
        gap_seconds=standard.seconds,
        broad=deep,
        reads_on=not model,
    )

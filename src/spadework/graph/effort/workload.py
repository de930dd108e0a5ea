"""How much a question is worth: what workers ask and read, by complexity and effort (S3)."""

from __future__ import annotations

from typing import NamedTuple

from spadework.settings import Settings
from spadework.tools.ranking.selection import PRESETS
from spadework.values import Complexity, Plan

#: Queries of a topic in the first round.
QUERIES = 4
#: Where a model says which gaps are left, a simple question is one worker with at most 10 searches
#: and pages, one a page that fails; in quick effort every topic is as small. Without one the pages
#: are all there is to go by, so none is saved: with so few, answers were missed
#: (benchmarks/README.md).
SIMPLE_QUERIES, SIMPLE_PAGES = 3, 6
#: Pages of a worker that fills gaps, in normal effort.
GAP_PAGES = 5
#: Times the pages of the preset in deep effort; the ceiling of pages bounds complex questions.
DEEP_TIMES: dict[Complexity, int] = {"simple": 2, "moderate": 4, "complex": 4}
DEEP_GAP_TIMES = 2


class Workload(NamedTuple):
    """The queries and pages of one worker at most, in the first round and in one for gaps, and the
    seconds that a search for a gap may take. `broad`:
    pages that another worker reads, too, do not count among those of the first round; `reads_on`:
    every open topic also looks at what its first searches left unread, rather than only one that
    has nothing else to ask.
    """

    queries: int
    pages: int
    gap_queries: int
    gap_pages: int
    gap_seconds: float
    broad: bool = False
    reads_on: bool = False


def workload(plan: Plan, settings: Settings, *, model: bool) -> Workload:
    """Return what the workers of a plan may do; `model`: one judges what they bring. Rounds do not
    depend on complexity: a further one searches only for what is open.
    """
    most, deep = PRESETS[settings.preset][1], settings.effort == "deep"
    simple = model and (plan.complexity == "simple" or settings.effort == "quick")
    pages = min(SIMPLE_PAGES, most) if simple else most
    standard = settings.standard(plan.question_type)
    return Workload(
        queries=SIMPLE_QUERIES if simple and not deep else QUERIES,
        pages=most * DEEP_TIMES[plan.complexity] if deep else pages,
        gap_queries=standard.searches,
        gap_pages=min(GAP_PAGES, most) * (DEEP_GAP_TIMES if deep else 1),
        gap_seconds=standard.seconds,
        broad=deep,
        reads_on=not model,
    )

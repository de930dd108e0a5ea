"""Whether what is known will do without the web (corrective retrieval): fresh enough, good enough,
and of more than one house.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from spadework.clock import today
from spadework.settings import Settings
from spadework.tools.facts import stems
from spadework.tools.knowledge.entry import Recalled
from spadework.tools.search.recency import freshness_of
from spadework.tools.text.detect import spoken
from spadework.tools.urls import domain_of
from spadework.values import Freshness, Query, Task

#: A page is good when so much of what the query needs stands in one passage of it or in its title.
GOOD_SHARE = 0.7
#: Good pages must come from so many domains: one site, however many pages of it are known, never
#: keeps the web out.
DOMAINS = 3
#: Good pages must speak of this share of the aspects that the topic must cover.
ASPECTS = 0.6


def fresh_since(
    queries: Sequence[Query], settings: Settings, now: datetime | None = None
) -> datetime | None:
    """The moment from which on a kept page is fresh enough for queries; None where only the web
    will do.
    """
    wanted = {freshness_of(query) for query in queries}
    days: dict[Freshness, float] = {
        "any": settings.knowledge_days,
        "recent": settings.knowledge_hours / 24,
        "now": 0.0,
    }
    allowed = min((days[freshness] for freshness in wanted), default=0.0)
    return (now or today()) - timedelta(days=allowed) if allowed else None


def enough(found: Sequence[Sequence[Recalled]], task: Task) -> bool:
    """Whether the pages `found`, query by query of the task, will do for one that asks just what
    the topic does.

    A survey, which lives of many pages, and a gap never have enough.
    """
    if task.broad or task.round != 1:
        return False
    meant = [
        pages
        for pages, query in zip(found, task.queries, strict=True)
        if query.kind in ("original", "paraphrase")
    ]
    return any(
        _good_enough([one for one in pages if one.share >= GOOD_SHARE], task) for pages in meant
    )


def _good_enough(good: Sequence[Recalled], task: Task) -> bool:
    if len({domain_of(one.entry.page.url) for one in good}) < DOMAINS:
        return False
    code = spoken(*(one.entry.text for one in good))
    aspects = [words for aspect in task.topic.must_cover if (words := stems(aspect, code))]
    if not aspects:
        return True
    texts = (f"{one.entry.page.title}\n{one.entry.text}" for one in good)
    known = set[str]().union(*(stems(text, code) for text in texts))
    return sum(words <= known for words in aspects) >= ASPECTS * len(aspects)

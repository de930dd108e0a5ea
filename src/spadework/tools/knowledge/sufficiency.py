"""Whether a known page is about what is asked, and whether what is known will do without the web
(corrective retrieval): fresh enough, good enough, and of more than one house.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from spadework.clock import today
from spadework.settings import Settings
from spadework.tools.knowledge.entry import Recalled
from spadework.tools.ranking.recency import freshness_of
from spadework.tools.text.detect import spoken
from spadework.tools.text.facts import stems
from spadework.tools.text.language import language
from spadework.tools.web.urls import domain_of
from spadework.values import Freshness, Query, Task

#: A page is about what is asked when so much of what the question needs stands in one passage of it
#: or in its title: the least step of `benchmarks/poison.py` at which no page of an unrelated store
#: is, for any question.
RELEVANT = 0.8
#: Good pages come from so many domains: one site alone never keeps the web out.
DOMAINS = 3
#: Good pages must speak of this share of the aspects that the topic must cover.
ASPECTS = 0.6


def fresh_since(
    queries: Sequence[Query], settings: Settings, now: datetime | None = None
) -> datetime | None:
    """Since when a kept page is fresh enough for queries; None for only the web."""
    wanted: set[Freshness] = {freshness_of(query) for query in queries}
    days: dict[Freshness, float] = {
        "any": settings.knowledge_days,
        "recent": settings.knowledge_hours / 24,
        "now": 0.0,
    }
    allowed = min((days[freshness] for freshness in wanted), default=0.0)
    return (now or today()) - timedelta(days=allowed) if allowed else None


def subject(question: str) -> str:
    """A question without what says that it asks for a count: no page must say "how many"."""
    count = language(spoken(question)).cues.get("count")
    return count.sub(" ", question) if count else question


def relevant(found: Sequence[Sequence[Recalled]]) -> list[Recalled]:
    """The pages about what is asked, best first; `found` for the question and its topic."""
    best: dict[str, Recalled] = {}
    for one in (one for pages in found for one in pages if one.share >= RELEVANT):
        known = best.setdefault(one.entry.key, one)
        best[one.entry.key] = max(known, one, key=lambda each: each.share)
    return sorted(best.values(), key=lambda each: -each.share)


def enough(found: Sequence[Recalled], task: Task) -> bool:
    """Whether pages will do for a task. A survey, living of many, and a gap never have enough."""
    many = len({domain_of(one.entry.page.url) for one in found}) >= DOMAINS
    if task.broad or task.round != 1 or not many:
        return False
    code = spoken(*(one.entry.text for one in found))
    aspects = [words for aspect in task.topic.must_cover if (words := stems(aspect, code))]
    if not aspects:
        return True
    texts = (f"{one.entry.page.title}\n{one.entry.text}" for one in found)
    known = set[str]().union(*(stems(text, code) for text in texts))
    return sum(words <= known for words in aspects) >= ASPECTS * len(aspects)

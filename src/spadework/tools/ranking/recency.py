"""Whether a query is about now, so that news and recent pages are asked for."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Literal

from spadework import clock
from spadework.values import Freshness, Query

#: How far back a page may date, in days: "now" asks for the news of the past month, "recent" for
#: pages of the past year.
DAYS: dict[Freshness, int] = {"now": 30, "recent": 365}

Reach = Literal["day", "week", "month", "year"]
_REACHES: dict[Reach, int] = {"day": 0, "week": 6, "month": 30, "year": 365}

_NOW = re.compile(
    r"\b(?:news|headlines|breaking|latest|newest|today|tonight|yesterday|currently|right now|this"
    r" (?:week|month)|past (?:day|week))\b",
    re.IGNORECASE,
)


def about_now(text: str) -> bool:
    """True for a query such as "latest news about Port Aldermere"."""
    return _NOW.search(text) is not None


def freshness_of(query: Query) -> Freshness:
    """How recent pages should be: what the plan says, else the words of the query."""
    return "now" if query.freshness == "any" and about_now(query.text) else query.freshness


def period(query: Query) -> tuple[date | None, date | None]:
    """The first and last day that count, or None: as wished, else as recent as pages should be."""
    if query.since or query.until:
        return query.since, query.until
    return since(freshness_of(query)), None


def is_dated(query: Query) -> bool:
    """Whether the days are wished that count, which go before how recent pages should be."""
    return bool(query.since or query.until)


def news_wanted(query: Query) -> bool:
    """Whether news are wished, or asked for by being about now unless other days are."""
    return query.news or (freshness_of(query) == "now" and not is_dated(query))


def reach(query: Query, today: date | None = None) -> Reach | None:
    """The shortest range of engines, back from today, with all days that count; None for all."""
    first, _ = period(query)
    if first is None:
        return None
    days = ((today or clock.today().date()) - first).days
    return next((name for name, most in _REACHES.items() if days <= most), None)


def since(freshness: Freshness, today: date | None = None) -> date | None:
    """The first day that counts, None for all of time. `today` is that of UTC by default."""
    days = DAYS.get(freshness)
    return None if days is None else (today or clock.today().date()) - timedelta(days=days)

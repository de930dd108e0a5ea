"""Whether a query is about recent events, so that news and recent pages are searched."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Literal

from spadework import clock
from spadework.values import Freshness, Query

#: Maximum age of pages in days: "now" means last month's news, "recent" last year's pages.
DAYS: dict[Freshness, int] = {"now": 30, "recent": 365}

Reach = Literal["day", "week", "month", "year"]
_REACHES: dict[Reach, int] = {"day": 0, "week": 6, "month": 30, "year": 365}

_NOW = re.compile(
    r"\b(?:news|headlines|breaking|latest|newest|today|tonight|yesterday|currently|right now|this"
    r" (?:week|month)|past (?:day|week))\b",
    re.IGNORECASE,
)


def about_now(text: str) -> bool:
    """Return whether a query is about the present, such as "latest news about Port Aldermere"."""
    return _NOW.search(text) is not None


def freshness_of(query: Query) -> Freshness:
    """Return how recent pages should be: by the plan, else by the words of the query."""
    return "now" if query.freshness == "any" and about_now(query.text) else query.freshness


def period(query: Query) -> tuple[date | None, date | None]:
    """Return the first and last day that count, or None: as requested, else by freshness."""
    if query.since or query.until:
        return query.since, query.until
    return since(freshness_of(query)), None


def is_dated(query: Query) -> bool:
    """Return whether a date range is requested, which takes precedence over freshness."""
    return bool(query.since or query.until)


def news_wanted(query: Query) -> bool:
    """Return whether news are requested, or implied by a query about now without a date range."""
    return query.news or (freshness_of(query) == "now" and not is_dated(query))


def reach(query: Query, today: date | None = None) -> Reach | None:
    """Return the shortest engine time range, back from today, that covers the days; None for all
    time.
    """
    first, _ = period(query)
    if first is None:
        return None
    days = ((today or clock.today().date()) - first).days
    return next((name for name, most in _REACHES.items() if days <= most), None)


def since(freshness: Freshness, today: date | None = None) -> date | None:
    """Return the first day that counts, None for all time. `today` defaults to the UTC date."""
    days = DAYS.get(freshness)
    return None if days is None else (today or clock.today().date()) - timedelta(days=days)

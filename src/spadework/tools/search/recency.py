"""Whether a query is about now, so that news and recent pages are asked for."""

from __future__ import annotations

import re
from datetime import date, timedelta

from spadework import clock
from spadework.values import Freshness, Query

#: How far back a page may date, in days: "now" asks for the news of the past month, "recent" for
#: pages of the past year.
DAYS: dict[Freshness, int] = {"now": 30, "recent": 365}

_NOW = re.compile(
    r"\b(?:news|headlines|breaking|latest|newest|today|tonight|yesterday|currently|right now|this"
    r" (?:week|month)|past (?:day|week))\b",
    re.IGNORECASE,
)


def about_now(text: str) -> bool:
    """True for a query such as "latest news about Port Aldermere"."""
    return _NOW.search(text) is not None


def freshness_of(query: Query) -> Freshness:
    """How recent the pages should be: what the plan says, or else what the words of the query
    say.
    """
    return "now" if query.freshness == "any" and about_now(query.text) else query.freshness


def since(freshness: Freshness, today: date | None = None) -> date | None:
    """The first day from which on pages count, None for all of time. `today` is that of UTC by
    default.
    """
    days = DAYS.get(freshness)
    return None if days is None else (today or clock.today().date()) - timedelta(days=days)

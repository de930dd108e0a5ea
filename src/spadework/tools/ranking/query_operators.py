"""Parse a query's operators, such as `site:`. A minus sign negates an operator."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from spadework import deadline
from spadework.errors import SearchError
from spadework.tools.web.urls import addresses
from spadework.values import Freshness, Query

#: Matches an operator at the start of a word. A value with spaces is enclosed in quotes.
_OPERATOR = re.compile(
    r"(?<!\S)(-?)(site|path|kind|after|before):(?:\"([^\"]+)\"|([^\s\"]\S*))", re.I
)
#: Operators that other search engines accept anywhere in a query.
_OTHERS = re.compile(r"\b(?:site|inurl):\S", re.I)
_DATE = re.compile(r"(\d{4})(?:-(\d\d?))?(?:-(\d\d?))?")


@dataclass(frozen=True)
class Only:
    """The filters of a query, in lower case. An empty field means no filter. Paths start with a
    slash, do not end with one, and include everything below them. The date `after` is inclusive,
    and `before` is exclusive.
    """

    sites: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    not_sites: tuple[str, ...] = ()
    not_paths: tuple[str, ...] = ()
    not_kinds: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None


def in_words(query: str) -> bool:
    """Return whether a query contains only words, and no addresses or operators."""
    said = query.strip()
    return bool(said) and not (addresses(said) or _OPERATOR.search(said) or _OTHERS.search(said))


def without_operators(query: str) -> str:
    """Return the query without its operators."""
    return " ".join(_OPERATOR.sub(" ", query).split()) if ":" in query else query


def only(query: str) -> Only:
    """Return the filters set by a query's operators. Raises SearchError for an invalid date."""
    found: dict[str, list[str]] = {}
    dates: dict[str, date] = {}
    for minus, name, quoted, plain in _OPERATOR.findall(query):
        name, value = name.lower(), (quoted or plain).strip().lower()
        if name in ("after", "before"):
            meant = {"after": "before", "before": "after"}[name] if minus else name
            dates[meant] = _day(name, value)
        else:
            value = "/" + value.strip("/") if name == "path" else value
            found.setdefault(f"{'not_' if minus else ''}{name}s", []).append(value)
    named = {kind: tuple(values) for kind, values in found.items()}
    return Only(**named, after=dates.get("after"), before=dates.get("before"))


def _day(name: str, value: str) -> date:
    parts = _DATE.fullmatch(value)
    try:
        if not parts:
            raise ValueError(value)
        return date(int(parts[1]), int(parts[2] or 1), int(parts[3] or 1))
    except ValueError:
        raise SearchError(
            f"{name}:{value[:40]} is not a date.",
            hint=f"Write {name}:2024, {name}:2024-05 or {name}:2024-05-31.",
        ) from None


#: Maximum age of pages in days, by freshness.
DAYS: dict[Freshness, int] = {"now": 30, "recent": 365}

Reach = Literal["day", "week", "month", "year"]
_REACHES: dict[Reach, int] = {"day": 0, "week": 6, "month": 30, "year": 365}

_NOW = re.compile(
    r"\b(?:news|headlines|breaking|latest|newest|today|tonight|yesterday|currently|right now|this"
    r" (?:week|month)|past (?:day|week))\b",
    re.IGNORECASE,
)


def about_now(text: str) -> bool:
    """Return whether a query is about current events ("latest news")."""
    return _NOW.search(text) is not None


def freshness_of(query: Query) -> Freshness:
    """Return the planned freshness, or "now" if it is "any" and the query is on current events."""
    return "now" if query.freshness == "any" and about_now(query.text) else query.freshness


def period(query: Query) -> tuple[date | None, date | None]:
    """Return the earliest and latest page dates (None: no limit). Dates override freshness."""
    if query.since or query.until:
        return query.since, query.until
    return since(freshness_of(query)), None


def is_dated(query: Query) -> bool:
    """Return whether the query limits the dates of pages. If so, its freshness is ignored."""
    return bool(query.since or query.until)


def news_wanted(query: Query) -> bool:
    """Return whether the query requests news, or concerns current events and requests no dates."""
    return query.news or (freshness_of(query) == "now" and not is_dated(query))


def reach(query: Query, today: date | None = None) -> Reach | None:
    """Return the shortest range ending today that covers a query's period, or None if none does."""
    first, _ = period(query)
    if first is None:
        return None
    days = ((today or deadline.today().date()) - first).days
    return next((name for name, most in _REACHES.items() if days <= most), None)


def since(freshness: Freshness, today: date | None = None) -> date | None:
    """Return the earliest page date for this freshness, or None for any date. `today` is in UTC."""
    days = DAYS.get(freshness)
    return None if days is None else (today or deadline.today().date()) - timedelta(days=days)

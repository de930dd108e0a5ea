"""The measures of a run: what it found, chose and read, and seconds summed by kind of work."""

from __future__ import annotations

from collections.abc import Iterable

from spadework.events import Read, Searched
from spadework.sessions.course import Course
from spadework.tools.web.urls import canonical_url

Measures = dict[str, float | int | None]


def measures(course: Course) -> Measures:
    """The measures by name; a share or a mean of nothing is None."""
    return {**_of_searching(course), **_of_reading(course), **_of_models(course)}


def _of_searching(course: Course) -> Measures:
    searches = course.searches
    answered = [event for event in searches if isinstance(event, Searched)]
    found = {canonical_url(hit.url) for event in answered for hit in event.found}
    chosen = [hit for made in course.selections for hit in made.hits if hit.fate == "chosen"]
    selected = {canonical_url(hit.url): hit.relevance for hit in reversed(chosen)}
    return {
        "search_seconds": _sum(event.seconds for event in searches),
        "searches_answered": len(answered),
        "searches_failed": len(searches) - len(answered),
        "found": len(found),
        "selected": len(selected),
        "mean_relevance": _mean(selected.values()),
    }


def _of_reading(course: Course) -> Measures:
    tried: dict[str, list[Read]] = {}
    for read in course.reads:
        tried.setdefault(canonical_url(read.url), []).append(read)
    # A page that several topics want comes once: the others only wait for it.
    came = [min(some, key=lambda read: bool(read.reason)) for some in tried.values()]
    pages = course.pages.values()
    cleaning = [*(read.cleaning for read in pages), *(e.seconds for e in course.cleanings)]
    return {
        "crawl_seconds": _sum(read.fetching for read in came),
        "cleaning_seconds": _sum(cleaning),
        "pages_read": sum(not read.reason for read in came),
        "pages_failed": sum(bool(read.reason) for read in came),
        "success_rate": _mean([float(not read.reason) for read in came]),
        "characters": sum(read.chars for read in pages),
        "characters_cleaned_away": sum(e.before - e.chars for e in course.cleanings),
    }


def _of_models(course: Course) -> Measures:
    calls = course.calls
    return {
        "model_seconds": _sum(call.seconds for call in calls),
        "calls_answered": sum(call.verdict == "fits" for call in calls),
        "calls_misshapen": sum(call.verdict == "misshapen" for call in calls),
        "calls_too_long": sum(call.verdict == "too long" for call in calls),
        "calls_failed": sum(call.failed for call in calls),
    }


def _sum(seconds: Iterable[float | None]) -> float:
    return round(sum(one or 0.0 for one in seconds), 3)


def _mean(values: Iterable[float]) -> float | None:
    listed = list(values)
    return round(sum(listed) / len(listed), 3) if listed else None

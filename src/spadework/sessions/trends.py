"""Figures over time: by day, week or month, whichever gives so many points as one can see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from spadework.sessions.session_figures import Figures

#: Points at most by day and by week; beyond, it goes by month.
MOST_DAYS, MOST_WEEKS = 31, 53


class Trend(NamedTuple):
    """A stretch of time: mean seconds, and by phase; answered topics per 1,000 tokens of runs with
    a model; the share of pages that could be read; of topics that were answered; of runs that were
    completed though something failed in them; of searches and pages that were known; of runs that
    took as long as was foreseen. None where there is nothing to divide by.
    """

    since: str
    sessions: int
    seconds: float
    phases: Mapping[str, float]
    per_thousand: float | None
    source_success: float | None
    completeness: float | None
    recovery: float | None
    cached: float | None
    foreseen: float | None
    alerted: int


def trends(
    sessions: Iterable[Figures], alerted: Collection[str], phases: Sequence[str]
) -> tuple[list[Trend], Trend | None]:
    """The stretches of time with sessions, oldest first, and all of it; `alerted` are ids."""
    days: dict[str, list[float]] = {}
    for figures in sessions:
        _add(days, figures.created_at[:10], _parts_of(figures, alerted, len(phases)))
    if not days:
        return [], None
    whole, stretches = dict[str, list[float]](), dict[str, list[float]]()
    first_of = _stretch(min(days), max(days))
    for day in sorted(days):
        _add(whole, min(days), days[day])
        _add(stretches, first_of(day), days[day])
    told = [_trend(since, parts, phases) for since, parts in stretches.items()]
    return told, _trend(min(days), whole[min(days)], phases)


def _parts_of(f: Figures, alerted: Collection[str], phases: int) -> list[float]:
    """What a session adds to a trend: sessions, alerted and timed ones, seconds; of each share its
    part and its whole (answered, read, complete, recovered, known, held); seconds by phase.
    """
    failed = f.search_errors or f.model_errors or f.pages_read < f.pages_tried
    nothing = (0, 0)
    return [
        *(1, int(f.session_id in alerted), int(bool(f.phases)), f.seconds),
        *((f.covered, f.tokens / 1_000) if f.tokens else nothing),
        *(f.pages_read, f.pages_tried),
        *((f.covered / f.topics, 1) if f.topics else nothing),
        *((f.status == "completed", 1) if failed else nothing),
        *(f.cache_hits, f.requests),
        *((bool(f.held), 1) if f.foreseen else nothing),
        *(f.phases or [0.0] * phases),
    ]


def _add(sums: dict[str, list[float]], name: str, parts: list[float]) -> None:
    known = sums.get(name)
    sums[name] = [a + b for a, b in zip(known, parts, strict=True)] if known else parts


def _trend(since: str, parts: list[float], names: Sequence[str]) -> Trend:
    count, alerted, timed, seconds, *rest = parts
    answers, read, complete, recovered, known, held = (
        round(part / whole, 4) if whole else None
        for part, whole in zip(rest[:12:2], rest[1:12:2], strict=True)
    )
    spent = zip(names, rest[12:], strict=True)
    return Trend(
        since=since,
        sessions=int(count),
        seconds=round(seconds / max(1, count), 2),
        phases={name: round(s / timed, 2) for name, s in spent} if timed else {},
        per_thousand=answers,
        source_success=read,
        completeness=complete,
        recovery=recovered,
        cached=known,
        foreseen=held,
        alerted=int(alerted),
    )


def _stretch(first: str, last: str) -> Callable[[str], str]:
    """The first day of the stretch in which a day lies, for days from `first` to `last`."""
    count = (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    if count <= MOST_DAYS:
        return lambda day: day
    if count <= 7 * MOST_WEEKS:
        return _monday
    return lambda day: f"{day[:7]}-01"


def _monday(day: str) -> str:
    at = date.fromisoformat(day)
    return (at - timedelta(days=at.weekday())).isoformat()

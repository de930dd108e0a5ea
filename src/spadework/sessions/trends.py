"""Figures over time: by day, week or month, whichever gives so many points as one can see."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from spadework.sessions.stats import Figures

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


class _Sums:
    """What is summed up of some sessions: the two parts of each share."""

    __slots__ = ("alerted", "count", "parts", "phases", "seconds", "timed")

    def __init__(self, phases: int) -> None:
        self.count = self.alerted = self.timed = 0
        self.seconds = 0.0
        self.phases = [0.0] * phases
        #: Of each share its part and its whole: answered, read, complete, recovered, known, held.
        self.parts = [0.0] * 12

    def take(self, f: Figures, alerted: bool) -> None:
        """Add a session."""
        self.count += 1
        self.alerted += alerted
        self.seconds += f.seconds
        if f.phases:
            self.timed += 1
            self.phases = [a + b for a, b in zip(self.phases, f.phases, strict=True)]
        parts = self.parts
        if f.tokens:
            parts[0] += f.covered
            parts[1] += f.tokens / 1_000
        parts[2] += f.pages_read
        parts[3] += f.pages_tried
        if f.topics:
            parts[4] += f.covered / f.topics
            parts[5] += 1
        if f.search_errors or f.model_errors or f.pages_read < f.pages_tried:
            parts[6] += f.status == "completed"
            parts[7] += 1
        parts[8] += f.cache_hits
        parts[9] += f.requests
        if f.foreseen:
            parts[10] += f.foreseen[0] <= f.seconds <= f.foreseen[2]
            parts[11] += 1

    def merge(self, other: _Sums) -> None:
        """Add what was summed up elsewhere."""
        self.count += other.count
        self.alerted += other.alerted
        self.timed += other.timed
        self.seconds += other.seconds
        self.phases = [a + b for a, b in zip(self.phases, other.phases, strict=True)]
        self.parts = [a + b for a, b in zip(self.parts, other.parts, strict=True)]

    def told(self, since: str, names: Sequence[str]) -> Trend:
        """The shares."""
        spent = zip(names, self.phases, strict=True)
        pairs = zip(self.parts[::2], self.parts[1::2], strict=True)
        answers, read, complete, recovered, known, held = (
            round(part / whole, 4) if whole else None for part, whole in pairs
        )
        return Trend(
            since=since,
            sessions=self.count,
            seconds=round(self.seconds / max(1, self.count), 2),
            phases={name: round(s / self.timed, 2) for name, s in spent} if self.timed else {},
            per_thousand=answers,
            source_success=read,
            completeness=complete,
            recovery=recovered,
            cached=known,
            foreseen=held,
            alerted=self.alerted,
        )


def trends(
    sessions: Iterable[Figures], alerted: Collection[str], phases: Sequence[str]
) -> tuple[list[Trend], Trend | None]:
    """The stretches of time with sessions, oldest first, and all of it; `alerted` are ids."""
    days: dict[str, _Sums] = {}
    for figures in sessions:
        day = figures.created_at[:10]
        sums = days.get(day)
        if sums is None:
            sums = days[day] = _Sums(len(phases))
        sums.take(figures, figures.session_id in alerted)
    if not days:
        return [], None
    whole, stretches = _Sums(len(phases)), dict[str, _Sums]()
    first_of = _stretch(min(days), max(days))
    for day in sorted(days):
        whole.merge(days[day])
        stretches.setdefault(first_of(day), _Sums(len(phases))).merge(days[day])
    told = [sums.told(since, phases) for since, sums in stretches.items()]
    return told, whole.told(min(days), phases)


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

"""Start and duration of each phase of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Literal

from spadework.events import (
    Assessed,
    Distilled,
    Planned,
    Read,
    Reading,
    Scored,
    Searched,
    Selected,
    Started,
    Timed,
    Unanswered,
    Wrote,
)
from spadework.sessions.record.course import Course
from spadework.sessions.storage.session_file import Kept

Name = Literal["plan", "search", "read", "assess", "write"]


class Phase(Kept):
    """A phase of a round: the second of the run when it began, and its duration so far. `began` is
    the clock time. The plan has round 0, writing that of the round before it.
    """

    name: Name
    round: int
    began: datetime
    after: float
    seconds: float


def phases(course: Course) -> tuple[Phase, ...]:
    """Return the phases of a run so far, in order; () if its record has no times."""
    return tuple(_phases(course))


def _phases(course: Course) -> Iterator[Phase]:
    planned = course.of(Planned)
    # A resumed run already has its plan.
    began = [e for e in course.of(Started) if not e.resumed][:1]
    yield from _phase("plan", 0, [*began, *planned[-1:]])
    rounds = sorted({e.round for e in course.of(Selected)} | {e.round for e in course.rounds})
    for number in rounds:
        yield from _round(course, number)
    last = course.rounds[-1:]
    written: list[Timed] = [e for e in course.of(Wrote) if e.final]
    yield from _phase("write", rounds[-1] if rounds else 0, [*last, *written] if written else [])


def _round(course: Course, number: int) -> Iterator[Phase]:
    def events_of(*kinds: type[Timed]) -> list[Timed]:
        return [
            e for e in course.events if isinstance(e, kinds) and getattr(e, "round", 0) == number
        ]

    yield from _phase("search", number, events_of(Searched, Unanswered, Selected))
    yield from _phase("read", number, events_of(Reading, Read, Distilled))
    yield from _phase("assess", number, [*events_of(Distilled)[-1:], *events_of(Scored, Assessed)])


def _phase(name: Name, number: int, told: Sequence[Timed]) -> Iterator[Phase]:
    """Yield the phase of some events, from the first's start to the last; none for a single
    event.
    """
    timed = [(e.after - (e.seconds or 0.0), e) for e in told if e.after is not None and e.at]
    if len(timed) < 2:
        return
    first, event = min(timed, key=lambda one: one[0])
    last = max(e.after or 0.0 for _, e in timed)
    assert event.at
    yield Phase(
        name=name,
        round=number,
        began=event.at - timedelta(seconds=event.seconds or 0.0),
        after=round(max(0.0, first), 3),
        seconds=round(max(0.0, last - max(0.0, first)), 3),
    )

"""The events of a run, in an order that does not depend on concurrency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

from spadework.errors import SessionNotFound, SessionUnreadable
from spadework.events import (
    Assessed,
    Called,
    Cleaned,
    Distilled,
    Ended,
    Event,
    Finished,
    Planned,
    Proven,
    Read,
    Reading,
    Scored,
    Searched,
    Selected,
    Started,
    Timed,
    Troubled,
    Unanswered,
    Wrote,
    settle_events,
)
from spadework.sessions.metrics.session_figures import PHASES, Figures, alerts_of
from spadework.sessions.metrics.session_index import Drawn
from spadework.sessions.record.log import read_log
from spadework.sessions.storage.files import Metadata, Name, Phase, read_metadata, read_result
from spadework.tools.web.urls import canonical_url
from spadework.values import Attempt, Choice, Evidence, Plan, Problem, Result, Span

K = TypeVar("K", bound=Timed)


class Course:
    """The recorded events of a run, without duplicates."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.events: list[Event] = settle_events(events)
        names = [topic.name for topic in self.plan.topics] if self.plan else []
        self._order = {name: n for n, name in enumerate(names)}

    def of(self, kind: type[K]) -> list[K]:
        """Return the events of one type, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def ended(self) -> Ended | None:
        """The event that ended the run without a result, or None."""
        ends = [event for event in self.events if isinstance(event, Started | Finished | Ended)]
        last = ends[-1] if ends else None
        return last if isinstance(last, Ended) else None

    @property
    def plan(self) -> Plan | None:
        """The latest plan, or None."""
        planned = self.of(Planned)
        return planned[-1].plan if planned else None

    @property
    def searches(self) -> list[Searched | Unanswered]:
        """All searches, sorted by round and topic."""
        found = [e for e in self.events if isinstance(e, Searched | Unanswered)]
        return sorted(found, key=lambda e: (*self._place(e.round, e.topic), e.query, e.provider))

    @property
    def selections(self) -> list[Selected]:
        """The decisions about which hits to read, sorted by round and topic."""
        return sorted(self.of(Selected), key=lambda e: self._place(e.round, e.topic))

    @property
    def reads(self) -> list[Read]:
        """All attempts to read pages, sorted by round, topic and rank."""
        ranks = {
            (made.round, made.topic, canonical_url(choice.url)): n
            for made in self.selections
            for n, choice in enumerate(made.hits)
        }

        def place(e: Read) -> tuple[int, int, str, int, str]:
            rank = ranks.get((e.round, e.topic, canonical_url(e.url)), len(ranks))
            return (*self._place(e.round, e.topic), rank, e.url)

        return sorted(self.of(Read), key=place)

    @property
    def pages(self) -> dict[str, Read]:
        """The pages that were read, keyed by content hash, or by URL if they have no hash."""
        found: dict[str, Read] = {}
        for read in self.reads:
            if not read.reason:
                found.setdefault(read.content_hash or read.url, read)
        return found

    @property
    def attempts(self) -> list[Attempt]:
        """All fetch attempts. Attempts for a page that several topics share are listed once."""
        made = dict.fromkeys((canonical_url(read.url), read.attempts) for read in self.of(Read))
        return [attempt for _, attempts in made for attempt in attempts]

    @property
    def unread(self) -> list[Choice]:
        """The hits that were considered for reading, but whose pages were not read."""
        known = {canonical_url(read.url) for read in self.reads if not read.reason}
        found: dict[str, Choice] = {}
        for choice in (choice for made in self.selections for choice in made.hits):
            if (url := canonical_url(choice.url)) not in known:
                found.setdefault(url, choice)
        return list(found.values())

    @property
    def cleanings(self) -> list[Cleaned]:
        """The pages that a model cleaned."""
        return sorted(self.of(Cleaned), key=lambda e: e.url)

    @property
    def calls(self) -> list[Called]:
        """All model calls, sorted by role."""
        return sorted(self.of(Called), key=lambda e: (e.role, e.shape, e.asked))

    @property
    def evidence(self) -> list[Evidence]:
        """The evidence ledger: all recorded evidence, without duplicates."""
        told = [entry for event in self.of(Proven) for entry in event.evidence]
        found = {entry.id: entry for entry in told}
        return list(found.values())

    @property
    def scores(self) -> list[Scored]:
        """All topic scores, sorted by round and topic."""
        return sorted(self.of(Scored), key=lambda e: self._place(e.round, e.topic))

    @property
    def rounds(self) -> list[Assessed]:
        """The assessments of all rounds, sorted by round."""
        return sorted(self.of(Assessed), key=lambda e: e.round)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The run's problems, without duplicates."""
        told = dict.fromkeys(event.problem for event in self.of(Troubled))
        return tuple(sorted(told, key=lambda p: (p.stage, p.subject, p.reason)))

    @property
    def draft(self) -> str:
        """The latest draft of the report, or "" if there is none."""
        wrote = self.of(Wrote)
        return wrote[-1].markdown if wrote else ""

    @property
    def result(self) -> Result | None:
        """The run's result, or None if the run has not finished."""
        finished = self.of(Finished)
        return finished[-1].result if finished else None

    def _place(self, round_: int, topic: str) -> tuple[int, int, str]:
        return round_, self._order.get(topic, len(self._order)), topic


def phases(course: Course) -> tuple[Phase, ...]:
    """Return the run's phases so far, or () if events lack timestamps."""
    return tuple(_phases(course))


def _phases(course: Course) -> Iterator[Phase]:
    planned = course.of(Planned)
    # A resumed run already has a plan, so its start does not begin the planning phase.
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


def draw(folder: Path) -> Drawn:
    """Return a session's figures and alerts, as a value for the session index. The value is an
    error message if the session is unreadable, or None if it is missing or has no research
    report.
    """
    try:
        metadata, result = read_metadata(folder), read_result(folder)
    except SessionNotFound:
        return Drawn(None, kept=False)
    except SessionUnreadable as error:
        return Drawn(str(error), kept=False)
    if result is None or metadata.kind != "research":
        return Drawn(None)
    course = Course(event for event in read_log(folder) if event is not None)
    figures = figures_of(metadata, result, course)
    return Drawn([figures, alerts_of(figures)])


def _count_quotes(result: Result) -> tuple[int, int]:
    told = {c.evidence_id for c in result.citations}
    told |= {i for s in result.document.sections for one in s.sentences for i in one.evidence_ids}
    found = [entry.id for topic in result.topics for entry in topic.evidence]
    return len(found), sum(id_ in told for id_ in found)


def figures_of(metadata: Metadata, result: Result, course: Course) -> Figures:
    """Return the figures of a finished session."""
    used, forecast = result.usage, result.forecast
    quotes, cited = _count_quotes(result)
    span = forecast.seconds if forecast else Span()
    read, tried = _pages(course)
    sentences = {c.sentence: c for c in result.citations}.values()
    return Figures(
        session_id=metadata.id,
        follows=metadata.follows,
        question=result.question,
        created_at=metadata.created_at.isoformat(),
        status=result.status,
        mode=result.mode,
        seconds=result.timings.get("total", 0.0),
        seconds_limit=60 * metadata.limits.minutes if metadata.limits else 0.0,
        covered=sum(topic.covered for topic in result.topics),
        topics=len(result.topics),
        evidence=quotes,
        cited=cited,
        writers=Counter(c.maker for c in sentences),
        judges=Counter(c.judge for c in sentences),
        searches=used.searches,
        search_errors=used.search_errors,
        pages=used.pages,
        pages_read=read,
        pages_tried=tried,
        model_calls=used.model_calls,
        model_errors=used.model_errors,
        too_long=used.too_long,
        tokens=used.tokens_in + used.tokens_out,
        money=used.money,
        cache_hits=used.cache_hits,
        requests=used.cache_hits + used.searches + used.fetches,
        phases=_by_phase(course),
        foreseen=[span.low, span.median, span.high, forecast.runs] if forecast else [],
    )


def _pages(course: Course) -> tuple[int, int]:
    tried: dict[str, bool] = {}
    for read in course.reads:
        tried[read.url] = tried.get(read.url, False) or not read.reason
    return sum(tried.values()), len(tried)


def _by_phase(course: Course) -> list[float]:
    spent = dict.fromkeys(PHASES, 0.0)
    found = phases(course)
    spent["start"] = min((phase.after for phase in found), default=0.0)
    for phase in found:
        spent[phase.name] += phase.seconds
    return [round(seconds, 2) for seconds in spent.values()] if found else []

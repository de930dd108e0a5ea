"""The course of a run, folded from its record: searches, choices, pages, calls and evidence, in an
order independent of concurrency.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from spadework.events import (
    Assessed,
    Called,
    Cleaned,
    Ended,
    Event,
    Finished,
    Planned,
    Proven,
    Read,
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
from spadework.tools.web.urls import canonical_url
from spadework.values import Attempt, Choice, Evidence, Plan, Problem, Result

K = TypeVar("K", bound=Timed)


class Course:
    """The distinct facts of a record's events; `ledger` is for records without one."""

    def __init__(self, events: Iterable[Event], ledger: Iterable[Evidence] = ()) -> None:
        self.events: list[Event] = settle_events(events)
        self._ledger = list(ledger)
        names = [topic.name for topic in self.plan.topics] if self.plan else []
        self._order = {name: n for n, name in enumerate(names)}

    def of(self, kind: type[K]) -> list[K]:
        """Return the events of a kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def timed(self) -> bool:
        """Whether the record has times: it is not version 0."""
        return any(event.v for event in self.events)

    @property
    def started(self) -> Started | None:
        """The start of the run."""
        return next(iter(self.of(Started)), None)

    @property
    def ended(self) -> Ended | None:
        """How it ended without a result; None if it did not, or was resumed."""
        ends = [event for event in self.events if isinstance(event, Started | Finished | Ended)]
        last = ends[-1] if ends else None
        return last if isinstance(last, Ended) else None

    @property
    def plan(self) -> Plan | None:
        """The latest plan."""
        planned = self.of(Planned)
        return planned[-1].plan if planned else None

    @property
    def searches(self) -> list[Searched | Unanswered]:
        """Every query at every provider, by round and topic."""
        found = [e for e in self.events if isinstance(e, Searched | Unanswered)]
        return sorted(found, key=lambda e: (*self._place(e.round, e.topic), e.query, e.provider))

    @property
    def selections(self) -> list[Selected]:
        """The decisions on hits, by round and topic."""
        return sorted(self.of(Selected), key=lambda e: self._place(e.round, e.topic))

    @property
    def reads(self) -> list[Read]:
        """Every page tried for a topic, by round and topic, in the order of its hits."""
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
        """The pages read, each once, by content hash, or by URL without one."""
        found: dict[str, Read] = {}
        for read in self.reads:
            if not read.reason:
                found.setdefault(read.content_hash or read.url, read)
        return found

    @property
    def attempts(self) -> list[Attempt]:
        """Every fetch attempt, each once: topics that want the same page share it."""
        made = dict.fromkeys((canonical_url(read.url), read.attempts) for read in self.of(Read))
        return [attempt for _, attempts in made for attempt in attempts]

    @property
    def unread(self) -> list[Choice]:
        """The hits whose pages were not read for any topic, each once."""
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
        """Every model call, by role."""
        return sorted(self.of(Called), key=lambda e: (e.role, e.shape, e.asked))

    @property
    def evidence(self) -> list[Evidence]:
        """The ledger."""
        told = [*self._ledger, *(entry for event in self.of(Proven) for entry in event.evidence)]
        found = {entry.id: entry for entry in told}
        return list(found.values())

    @property
    def scores(self) -> list[Scored]:
        """The scores of topics, by round."""
        return sorted(self.of(Scored), key=lambda e: self._place(e.round, e.topic))

    @property
    def rounds(self) -> list[Assessed]:
        """The rounds."""
        return sorted(self.of(Assessed), key=lambda e: e.round)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """The problems."""
        told = dict.fromkeys(event.problem for event in self.of(Troubled))
        return tuple(sorted(told, key=lambda p: (p.stage, p.subject, p.reason)))

    @property
    def draft(self) -> str:
        """The draft of the answer, "" if there is none."""
        wrote = self.of(Wrote)
        return wrote[-1].markdown if wrote else ""

    @property
    def result(self) -> Result | None:
        """The result."""
        finished = self.of(Finished)
        return finished[-1].result if finished else None

    def _place(self, round_: int, topic: str) -> tuple[int, int, str]:
        return round_, self._order.get(topic, len(self._order)), topic

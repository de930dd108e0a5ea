"""What a run looks like from outside: its topics with their state and its sources, put together
from its events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from spadework.events import (
    Answered,
    Asked,
    Assessed,
    Event,
    Planned,
    Read,
    Reading,
    Searched,
    Started,
)
from spadework.values import CoverageState

State = Literal["waiting", "searching", "reading"] | CoverageState


@dataclass
class TopicLine:
    """A topic of the plan: pages being read now, pages read in this round, quotes that prove it."""

    name: str
    state: State = "waiting"
    running: int = 0
    read: int = 0
    quotes: int = 0


@dataclass
class SourceLine:
    """A page that is being read, was read, or could not be, for the reason that stands with it."""

    url: str
    title: str
    chars: int = 0
    reason: str = ""
    done: bool = False


@dataclass
class Board:
    """The picture of a run. `round` counts from 1, 0 before the plan; the newest source is the
    last.
    """

    mode: str = ""
    searching: tuple[str, ...] = ()
    resumed: bool = False
    topics: dict[str, TopicLine] = field(default_factory=dict)
    sources: dict[str, SourceLine] = field(default_factory=dict)
    round: int = 0
    quotes: int = 0
    _follows: bool = False

    @property
    def pages(self) -> int:
        """How many pages were read."""
        return sum(source.done and not source.reason for source in self.sources.values())

    def take(self, event: Event) -> None:
        """Bring an event into the picture."""
        if isinstance(event, Started):
            self.mode, self.searching, self.resumed, self._follows = (
                event.mode,
                event.searching,
                event.resumed,
                bool(event.follows),
            )
        elif isinstance(event, Planned):
            self.topics = {
                topic.name: TopicLine(topic.name, self._first()) for topic in event.plan.topics
            }
        elif isinstance(event, (Asked, Answered)) and event.kind == "approve":
            self._all("waiting" if isinstance(event, Asked) else self._first())
        elif isinstance(event, Assessed):
            self._assessed(event)
        else:
            self._worked(event)

    def _first(self) -> State:
        # What is known from the session before is looked at first; only then is anything searched.
        return "waiting" if self._follows else "searching"

    def _all(self, state: State) -> None:
        for topic in self.topics.values():
            topic.state = state

    def _worked(self, event: Event) -> None:
        if isinstance(event, Searched):
            if not event.topic:  # the look around before there is a plan
                return
            self.round = max(self.round, 1)
            self._topic(event.topic).state = "searching"
        elif isinstance(event, Reading):
            topic = self._topic(event.topic)
            topic.state, topic.running = "reading", topic.running + 1
            self._source(SourceLine(event.url, event.title))
        elif isinstance(event, Read):
            topic = self._topic(event.topic)
            topic.running = max(0, topic.running - 1)
            topic.read += not event.reason
            self._source(SourceLine(event.url, event.title, event.chars, event.reason, done=True))

    def _assessed(self, event: Assessed) -> None:
        for coverage in event.coverage:
            topic = self._topic(coverage.topic)
            topic.state, topic.quotes = coverage.state, len(coverage.evidence_ids)
            topic.running = topic.read = 0
            if event.round == 0 and topic.state != "answered":
                topic.state = "searching"
        self.round, self.quotes = event.round + 1, event.evidence

    def _topic(self, name: str) -> TopicLine:
        # A session that is taken up goes on after its plan: the topics come with their events.
        return self.topics.setdefault(name, TopicLine(name))

    def _source(self, source: SourceLine) -> None:
        self.sources.pop(source.url, None)
        self.sources[source.url] = source

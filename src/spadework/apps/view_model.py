"""A session as shown by the web page, the terminal and MCP."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from spadework.apps.messages import number_of
from spadework.events import (
    Answered,
    Asked,
    Assessed,
    Ended,
    Event,
    Finished,
    Foreseen,
    Notice,
    Planned,
    Read,
    Reading,
    Searched,
    Started,
    Troubled,
    Wrote,
)
from spadework.values import (
    STATE_WORDS,
    Coverage,
    CoverageState,
    Forecast,
    Plan,
    Problem,
    Result,
    Span,
    Topic,
    Usage,
)

#: Times below this many seconds are shown with tenths.
FINE = 20


def foretold(forecast: Forecast) -> str:
    """Format an estimate as one line."""
    money = (
        "of unknown price"
        if forecast.money is None
        else f"for {_range(forecast.money, '$')}"
        if forecast.money.high
        else ""
    )
    model = (
        f"; {_many(forecast.calls, 'model call', 'model calls')}, {_range(forecast.tokens)} tokens"
        f" ({_range(forecast.writing)} of them for writing and checking) {money}"
        if forecast.calls.high
        else ""
    )
    searches = _many(forecast.searches, "search", "searches")
    work, span = f"{searches}, {_many(forecast.pages, 'page', 'pages')}", forecast.seconds
    usual = f"{_seconds(span)} s"
    if span.median is not None:
        usual = f"about {_form(span).format(span.median)} s ({usual})"
    told = (
        f"{usual}, {_many(forecast.rounds, 'round', 'rounds')},"
        f" {number_of(forecast.workers, 'topic')} at once; {work}{model}".rstrip()
    )
    if not forecast.runs:
        return f"{told}; a rough estimate, based on fewer than five similar runs"
    return f"{told}; based on the last {forecast.runs} similar runs"


def _many(span: Span, one: str, several: str) -> str:
    told = _range(span)
    return f"{told} {one if told == '1' else several}"


def took_beside(forecast: Forecast, seconds: float) -> str:
    """Compare a run time with its estimate, in words."""
    span = forecast.seconds
    if span.low <= seconds <= span.high:
        return f"as estimated ({_seconds(span)} s)"
    return f"{'less' if seconds < span.low else 'more'} than estimated ({_seconds(span)} s)"


def _seconds(span: Span) -> str:
    low, high = (_form(span).format(end) for end in (span.low, span.high))
    return low if low == high else f"{low} to {high}"


def _form(span: Span) -> str:
    return "{:,.0f}" if span.high >= FINE else "{:,.1f}"


def _range(span: Span, unit: str = "") -> str:
    low, high = (
        f"{unit}{number:,.2f}" if unit else f"{number:,.0f}" for number in (span.low, span.high)
    )
    return low if low == high else f"{low} to {high}"


Phase = Literal["waiting", "searching", "reading"] | CoverageState
State = Literal["starting", "asking", "running", "finished", "cancelled", "failed"]


@dataclass
class TopicView:
    """A topic's progress. `fresh` counts the pages read since its coverage was last assessed.
    `pages` maps URLs to whether they were read.
    """

    n: int
    topic: Topic
    phase: Phase = "waiting"
    queries: dict[tuple[str, str], int] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    pages: dict[str, bool] = field(default_factory=dict)
    fresh: int = 0
    coverage: Coverage | None = None

    @property
    def quotes(self) -> int:
        """The number of quotes supporting the topic."""
        return len(self.coverage.evidence_ids) if self.coverage else 0

    @property
    def words(self) -> str:
        """The topic's state in words."""
        if self.phase == "reading":
            return f"reading {len(self.open)}" if self.open else "checking"
        if self.phase == "waiting" or self.phase == "searching":
            return self.phase
        return STATE_WORDS[self.phase]

    @property
    def facts(self) -> list[str]:
        """The nonzero counts of searches, pages and quotes, in words."""
        named = (
            (len(self.queries), "search", "searches"),
            (sum(self.pages.values()), "page", "pages"),
            (self.quotes, "quote", "quotes"),
        )
        return [f"{count} {one if count == 1 else many}" for count, one, many in named if count]


@dataclass
class SourceView:
    """A page that the run requested, with the reason if it was not read."""

    n: int
    url: str
    title: str = ""
    state: Literal["reading", "read", "not read"] = "reading"
    reason: str = ""


@dataclass
class ViewModel:
    """A session as displayed. `n` is the number of the last event."""

    question: str = ""
    #: The id of the session that this one follows up on, or "".
    follows: str = ""
    resumed: bool = False
    #: Whether another process is running the session. If so, only recorded events are shown.
    elsewhere: bool = False
    n: int = 0
    state: State = "starting"
    mode: str = ""
    searching: tuple[str, ...] = ()
    note: str = ""
    notices: list[str] = field(default_factory=list)
    plan: Plan | None = None
    topics: dict[str, TopicView] = field(default_factory=dict)
    sources: dict[str, SourceView] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    asked: Asked | None = None
    answers: list[Answered] = field(default_factory=list)
    forecast: Forecast | None = None
    rounds: int = 0
    quotes: int = 0
    usage: Usage = field(default_factory=Usage)
    draft: str = ""
    result: Result | None = None
    ended: Ended | None = None
    #: The latest milestone, for screen readers.
    said: str = ""

    def take(self, event: Event) -> set[str]:
        """Apply an event, and return the names of the changed parts of the web page."""
        changed: set[str] = getattr(self, f"_take_{event.type}")(event)
        return changed

    @property
    def answered(self) -> int:
        """The number of answered topics."""
        return sum(view.phase == "answered" for view in self.topics.values())

    @property
    def read(self) -> int:
        """The number of pages read."""
        return sum(source.state == "read" for source in self.sources.values())

    @property
    def listed(self) -> list[SourceView]:
        """The pages in the order of their first request."""
        return sorted(self.sources.values(), key=lambda source: source.n)

    @property
    def searches(self) -> int:
        """The number of completed searches."""
        return sum(len(view.queries) for view in self.topics.values())

    def _take_started(self, event: Started) -> set[str]:
        self.question, self.follows, self.resumed = event.question, event.follows, event.resumed
        self.mode, self.searching = event.mode, event.searching
        self.state, self.note, self.ended, self.asked = "running", "", None, None
        self.said = "Resumed." if event.resumed else "The research has started."
        return {"status", "ask", "notices"}

    def _take_notice(self, event: Notice) -> set[str]:
        if event.text not in self.notices:
            self.notices.append(event.text)
        return {"notices"}

    def _take_asked(self, event: Asked) -> set[str]:
        self.asked, self.state = event, "asking"
        what = ("A question", "answer") if event.kind == "clarify" else ("The plan", "approval")
        self.said = f"{what[0]} is waiting for your {what[1]}."
        return {"ask", "status", "plan"}

    def _take_answered(self, event: Answered) -> set[str]:
        self.asked, self.state = None, "running"
        self.answers.append(event)
        self.said = "The research continues."
        return {"ask", "status", "plan"}

    def _take_foreseen(self, event: Foreseen) -> set[str]:
        self.forecast = event.forecast
        self.said = f"Estimate: {foretold(event.forecast)}."
        return {"status"}

    def _take_planned(self, event: Planned) -> set[str]:
        before, self.plan, self.topics = self.topics, event.plan, {}
        for n, topic in enumerate(event.plan.topics, 1):
            view = self.topics[topic.name] = before.get(topic.name) or TopicView(n, topic)
            view.n, view.topic = n, topic
        made = event.forecast or self.forecast
        coming = f" Estimate: {foretold(made)}." if made else ""
        self.said = f"The plan has {number_of(len(self.topics), 'topic')}.{coming}"
        return {"plan", "status"}

    def _take_searched(self, event: Searched) -> set[str]:
        if (view := self._topic(event.topic)) is None:
            return {"status"}
        view.queries[event.query, event.provider] = event.hits
        if not view.open:
            view.phase = "searching"
        return {f"topic {view.n}", "status"}

    def _take_reading(self, event: Reading) -> set[str]:
        changed = {"status", self._source(event)}
        if view := self._topic(event.topic):
            view.open.add(event.url)
            view.phase = "reading"
            changed.add(f"topic {view.n}")
        return changed

    def _take_read(self, event: Read) -> set[str]:
        changed = {"status", self._source(event)}
        source = self.sources[event.url]
        source.state, source.reason = ("not read", event.reason) if event.reason else ("read", "")
        if view := self._topic(event.topic):
            view.open.discard(event.url)
            view.pages[event.url] = not event.reason
            view.fresh += not event.reason
            changed.add(f"topic {view.n}")
        return changed

    def _take_unseen(self, event: Event) -> set[str]:
        return set()

    _take_checked = _take_selected = _take_cleaned = _take_unanswered = _take_unseen
    _take_called = _take_distilled = _take_proven = _take_scored = _take_unseen

    def _take_assessed(self, event: Assessed) -> set[str]:
        self.rounds, self.quotes, self.usage = event.round, event.evidence, event.usage
        for coverage in event.coverage:
            if view := self._topic(coverage.topic):
                view.coverage = coverage
                view.open.clear()
                view.fresh, view.phase = 0, coverage.state
        self.said = f"Round {event.round}: {self.answered} of {len(self.topics)} topics answered."
        return {"plan", "status"}

    def _take_problem(self, event: Troubled) -> set[str]:
        if event.problem in self.problems:
            return {"status"}
        self.problems.append(event.problem)
        return {"problems", "status"}

    def _take_report(self, event: Wrote) -> set[str]:
        if event.final:
            return {"status"}
        self.draft = event.markdown
        if self.rounds == 1:
            self.said = f"{self.said} A first version of the report is ready.".strip()
        return {"report", "status"}

    def _take_finished(self, event: Finished) -> set[str]:
        self.result, self.state, self.asked, self.ended = event.result, "finished", None, None
        self.usage, self.question = event.result.usage, event.result.question
        for topic in event.result.topics:
            # If no events were recorded, only the result names the topics, so add them here.
            view = self.topics.get(topic.name) or self._add_topic(topic.name)
            view.open.clear()
            view.phase = topic.state
            view.coverage = Coverage(
                topic=topic.name,
                covered=topic.covered,
                score=min(1.0, max(0.0, topic.score)),
                evidence_ids=tuple(e.id for e in topic.evidence),
                gaps=topic.gaps,
                near=topic.near,
            )
        self.said = "The report is ready."
        return {"everything"}

    def _take_ended(self, event: Ended) -> set[str]:
        self.ended, self.state, self.asked = event, event.how, None
        cancelled = event.how == "cancelled"
        self.said = "Cancelled." if cancelled else f"The run could not continue: {event.text}"
        return {"everything"}

    def _topic(self, name: str) -> TopicView | None:
        # If no events were recorded, a resumed session has no plan, so its topics are added here.
        if self.resumed and self.plan is None and name and name not in self.topics:
            return self._add_topic(name)
        return self.topics.get(name)

    def _add_topic(self, name: str) -> TopicView:
        view = TopicView(len(self.topics) + 1, Topic(name=name, question=""))
        self.topics[name] = view
        return view

    def _source(self, event: Reading | Read) -> str:
        """Put the event's source last in `sources`. Return the name of the changed page part."""
        known = self.sources.pop(event.url, None)
        source = known or SourceView(len(self.sources) + 1, event.url)
        self.sources[event.url] = source
        source.title = event.title or source.title
        return f"source {source.n}" if known else f"new source {source.n}"

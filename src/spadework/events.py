"""The events of a run, which form its record. `parse_event` restores them from the graph's JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import Field, TypeAdapter

from spadework.values import (
    Choice,
    Coverage,
    Evidence,
    Forecast,
    Lead,
    Need,
    Plan,
    Problem,
    QueryKind,
    Result,
    Tried,
    Usage,
    Value,
)

#: Version of the record format. Records of version 0 have no times.
VERSION = 1


class Timed(Value):
    """An event with its time. `after` counts the seconds since the run began, excluding pauses.
    `seconds` is the duration, and `v` the version of the record format.
    """

    #: Fields that identify the event's subject, if any.
    about: ClassVar[tuple[str, ...]] = ()
    #: The event type to use in `key` instead of the event's own type, or "" to use its own.
    thing: ClassVar[str] = ""

    v: int = 0
    at: datetime | None = None
    after: float | None = None
    seconds: float | None = None

    @property
    def failed(self) -> bool:
        """True if the event reports a failure that a retry may fix."""
        return False

    @property
    def key(self) -> str:
        """The id of the event's subject, or ""."""
        if not self.about:
            return ""
        told = self.model_dump(mode="json", include={"type", *self.about})
        told["type"] = self.thing or told["type"]
        return json.dumps(told, sort_keys=True, ensure_ascii=False)


E = TypeVar("E", bound=Timed)


def settle_events(events: Iterable[E]) -> list[E]:
    """Return one event for each `key`: the first success, or else the last failure."""
    known: dict[str, E] = {}
    for n, event in enumerate(events):
        key = event.key or str(n)
        before = known.get(key)
        if before is None or before.failed:
            known[key] = event
    return list(known.values())


APPROVE = "Approve this plan?"


class Started(Timed):
    """A session began or was resumed."""

    type: Literal["started"] = "started"
    session_id: str
    question: str
    mode: str
    searching: tuple[str, ...] = ()
    resumed: bool = False
    follows: str = ""


class Notice(Timed):
    """Something the user should know."""

    type: Literal["notice"] = "notice"
    about: ClassVar[tuple[str, ...]] = ("text",)
    text: str


class Asked(Timed, extra="ignore"):  # Ignore an interrupt's extra keys, meant for chat clients.
    """A question to the user about what they mean (`clarify`) or whether the plan is right
    (`approve`).

    An empty answer to `approve` accepts the plan. Otherwise, each line names a wanted topic or
    requests a change ("change: …"). A last line "yes" accepts the changed plan unseen.
    """

    type: Literal["asked"] = "asked"
    kind: Literal["clarify", "approve"]
    text: str
    options: tuple[str, ...] = ()
    plan: Plan | None = None
    forecast: Forecast | None = None


class Answered(Timed):
    """The user's answer, or "" if the run went on without one."""

    type: Literal["answered"] = "answered"
    kind: Literal["clarify", "approve"]
    text: str


class Foreseen(Timed):
    """The forecast of the run's time and cost, made when the question is asked."""

    type: Literal["foreseen"] = "foreseen"
    forecast: Forecast


class Planned(Timed):
    """The plan, with a new forecast if the first forecast was not based on earlier runs."""

    type: Literal["planned"] = "planned"
    about: ClassVar[tuple[str, ...]] = ("plan",)
    plan: Plan
    forecast: Forecast | None = None


class Troubled(Timed):
    """Something failed; the run continues."""

    type: Literal["problem"] = "problem"
    about: ClassVar[tuple[str, ...]] = ("problem",)
    problem: Problem


class Wrote(Timed):
    """The report so far. If `final`, it is verified."""

    type: Literal["report"] = "report"
    about: ClassVar[tuple[str, ...]] = ("markdown", "final")
    markdown: str
    final: bool = False


class Finished(Timed):
    """The run is over."""

    type: Literal["finished"] = "finished"
    result: Result


class Ended(Timed):
    """The run ended without a result. `text` says why."""

    type: Literal["ended"] = "ended"
    how: Literal["cancelled", "failed"]
    text: str = ""


class Searched(Timed):
    """A provider answered with the hits `found`, best first. `round` is 0 until there is a plan."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "query", "provider")
    type: Literal["searched"] = "searched"
    topic: str
    query: str
    provider: str
    hits: int
    round: int = 0
    kind: QueryKind = "original"
    found: tuple[Lead, ...] = ()


class Unanswered(Timed):
    """A provider did not answer a query."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "query", "provider")
    thing: ClassVar[str] = "searched"
    type: Literal["unanswered"] = "unanswered"
    topic: str
    query: str
    provider: str
    round: int = 0
    kind: QueryKind = "original"
    reason: str

    @property
    def failed(self) -> bool:
        """True if a retry may succeed."""
        return True


class Checked(Timed):
    """A topic's search hits were screened. `against` maps the rejected URLs to the reasons."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round")
    type: Literal["checked"] = "checked"
    topic: str
    hits: int
    round: int = 0
    against: dict[str, str] = Field(default_factory=dict)


class Selected(Timed):
    """A topic's hits, best first, and whether each one is read. `threshold` is the minimum
    relevance (0 to 1). `note` explains a lowered threshold, and is "" otherwise. `again` marks a
    second search in the same round.
    """

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "again")
    type: Literal["selected"] = "selected"
    topic: str
    round: int
    threshold: float
    again: bool = False
    note: str = ""
    hits: tuple[Choice, ...] = ()


class Reading(Timed):
    """A page is being fetched."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "url")
    type: Literal["reading"] = "reading"
    topic: str
    url: str
    title: str = ""
    round: int = 0


class Read(Timed, Tried):
    """A page was read, or could not be read for the given `reason`. The fields mean the same as in
    `Page`. After a failure, `level`, `status` and `bytes` describe the last attempt. `seconds`
    includes the time in `cleaning`.
    """

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "url")
    type: Literal["read"] = "read"
    topic: str
    url: str
    title: str = ""
    chars: int = 0
    reason: str = ""
    known: bool = False
    round: int = 0
    level: int | None = None
    status: int = 0
    media_type: str = ""
    bytes: int = 0
    content_hash: str = ""
    cleaned_by: str = ""
    cleaning: float = 0.0

    @property
    def failed(self) -> bool:
        """True if a retry may succeed."""
        return bool(self.reason)


class Cleaned(Timed):
    """A model cleaned a noisy page, or failed for the given `reason`. `before` and `chars` are the
    page's lengths in characters before and after, `content_hash` and `after_hash` its hashes.
    """

    about: ClassVar[tuple[str, ...]] = ("content_hash",)
    type: Literal["cleaned"] = "cleaned"
    url: str
    content_hash: str
    after_hash: str
    before: int
    chars: int
    reason: str = ""


#: The outcome of a model call. "unsupported" means that the server does not support the method for
#: structured output.
Verdict = Literal["fits", "misshapen", "unsupported", "too long", "late", "failed", "unpaid"]


class Called(Timed):
    """A model call. `role` is the task that the model was called for, such as "judge" or "writer".
    `shape` names the type of the requested answer. `money` is in US dollars, or None if the
    price is unknown. `asked` is the hash of the request.
    """

    about: ClassVar[tuple[str, ...]] = ("asked",)
    type: Literal["called"] = "called"
    role: str
    model: str
    shape: str
    method: str = ""
    asked: str
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = 0.0
    verdict: Verdict
    reason: str = ""

    @property
    def answered(self) -> bool:
        """True if the model replied, even if the reply does not match the requested type."""
        return self.verdict in ("fits", "misshapen")

    @property
    def failed(self) -> bool:
        """True if a retry may succeed."""
        return self.verdict in ("late", "failed", "unpaid")


class Distilled(Timed):
    """A topic's pages were split into passages to judge."""

    type: Literal["distilled"] = "distilled"
    about: ClassVar[tuple[str, ...]] = ("topic", "round")
    topic: str
    need: Need
    passages: int
    round: int = 0


class Proven(Timed):
    """Entries were added to the evidence ledger."""

    about: ClassVar[tuple[str, ...]] = ("evidence",)
    type: Literal["proven"] = "proven"
    evidence: tuple[Evidence, ...]


class Scored(Timed):
    """A topic's score (0 to 1) and quality (0 to 10, if rated), each before and after a round.
    `evidence` lists the ids of the quotes added in the round.
    """

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "step")
    type: Literal["scored"] = "scored"
    topic: str
    round: int
    before: float
    score: float
    quality_before: float | None = None
    quality: float | None = None
    by: Literal["model", "code"]
    step: Literal["assess", "verify"] = "assess"
    why: str
    evidence: tuple[str, ...] = ()


class Assessed(Timed):
    """A round's evidence was judged."""

    type: Literal["assessed"] = "assessed"
    about: ClassVar[tuple[str, ...]] = ("round",)
    round: int
    coverage: tuple[Coverage, ...]
    evidence: int
    usage: Usage


Event = Annotated[
    Started
    | Notice
    | Foreseen
    | Asked
    | Answered
    | Planned
    | Searched
    | Unanswered
    | Checked
    | Selected
    | Reading
    | Read
    | Cleaned
    | Called
    | Distilled
    | Proven
    | Scored
    | Assessed
    | Troubled
    | Wrote
    | Finished
    | Ended,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def parse_event(data: dict[str, Any]) -> Event:
    """Return the event for a JSON object."""
    return _EVENT.validate_python(data)


def read_event(line: bytes) -> Event:
    """Return the event for a JSON line."""
    return _EVENT.validate_json(line)

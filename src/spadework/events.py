"""What happens in a run, as it happens: a tagged union that every front door words in its own way.

The graph writes events to LangGraph's custom stream as JSON objects; `parse_event` gives them back
typed.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from spadework.values import Coverage, Forecast, Need, Plan, Problem, Result, Usage, Value

#: What is asked of a plan the first time.
APPROVE = "Is this the plan?"


class Started(Value):
    """A session began or was taken up again."""

    type: Literal["started"] = "started"
    session_id: str
    question: str
    mode: str
    searching: tuple[str, ...] = ()
    resumed: bool = False
    follows: str = ""


class Notice(Value):
    """Something the user should know, such as that the web cannot be reached."""

    type: Literal["notice"] = "notice"
    text: str


class Asked(Value):
    """The user is asked back: what the question means (an answer in words, or one of `options`), or
    whether the plan is right.

    The answer to `approve` is empty for "as it stands", or the names of the topics wanted, one a
    line; a line "change: …" says in words what else shall change, and the plan is shown again,
    unless the last line is "yes".
    """

    type: Literal["asked"] = "asked"
    kind: Literal["clarify", "approve"]
    text: str
    options: tuple[str, ...] = ()
    plan: Plan | None = None
    forecast: Forecast | None = None


class Answered(Value):
    """What the user said to what was asked; empty when the run went on without an answer."""

    type: Literal["answered"] = "answered"
    kind: Literal["clarify", "approve"]
    text: str


class Planned(Value):
    """The plan is made. The forecast says what it will take."""

    type: Literal["planned"] = "planned"
    plan: Plan
    forecast: Forecast | None = None


class Searched(Value):
    """One query was answered by one provider."""

    type: Literal["searched"] = "searched"
    topic: str
    query: str
    provider: str
    hits: int


class Checked(Value):
    """The hits of a topic were judged before reading: how many, and those not worth it (URL →
    why).
    """

    type: Literal["checked"] = "checked"
    topic: str
    hits: int
    against: dict[str, str] = Field(default_factory=dict)


class Reading(Value):
    """A page is being fetched."""

    type: Literal["reading"] = "reading"
    topic: str
    url: str
    title: str = ""


class Read(Value):
    """A page was read, or could not be (`reason`). `known`: it was taken from the knowledge
    store.
    """

    type: Literal["read"] = "read"
    topic: str
    url: str
    title: str = ""
    chars: int = 0
    reason: str = ""
    known: bool = False


class Distilled(Value):
    """The pages of a topic were taken apart by what it needs of them: so many passages are
    judged.
    """

    type: Literal["distilled"] = "distilled"
    topic: str
    need: Need
    passages: int


class Assessed(Value):
    """A round was judged on the ledger."""

    type: Literal["assessed"] = "assessed"
    round: int
    coverage: tuple[Coverage, ...]
    evidence: int
    usage: Usage


class Troubled(Value):
    """Something could not be done; the run goes on."""

    type: Literal["problem"] = "problem"
    problem: Problem


class Wrote(Value):
    """The report as far as it stands; `final` when it is verified."""

    type: Literal["report"] = "report"
    markdown: str
    final: bool = False


class Finished(Value):
    """The run is over."""

    type: Literal["finished"] = "finished"
    result: Result


class Ended(Value):
    """The run ended without a result: the user cancelled it, or it could not go on, for the reason
    in `text`.
    """

    type: Literal["ended"] = "ended"
    how: Literal["cancelled", "failed"]
    text: str = ""


Event = Annotated[
    Started
    | Notice
    | Asked
    | Answered
    | Planned
    | Searched
    | Checked
    | Reading
    | Read
    | Distilled
    | Assessed
    | Troubled
    | Wrote
    | Finished
    | Ended,
    Field(discriminator="type"),
]

_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def parse_event(data: dict[str, Any]) -> Event:
    """The typed event of a JSON object."""
    return _EVENT.validate_python(data)


def read_event(line: bytes) -> Event:
    """The typed event of a line of JSON."""
    return _EVENT.validate_json(line)

"""Define the channels of the graph, each with one meaning and reducer. Page texts are kept
elsewhere, so that checkpoints stay small.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Required

from langgraph.types import Overwrite
from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

# Before Python 3.12, `typing`'s own has no JSON schema in graphs.
from typing_extensions import TypedDict

from spadework.agents.reviser import Turn
from spadework.errors import SettingsError
from spadework.form import sentence
from spadework.values import (
    Citation,
    Conflict,
    Coverage,
    Evidence,
    Forecast,
    Hit,
    Page,
    Passage,
    Plan,
    Problem,
    Result,
    Review,
    Round,
    Section,
    Shortfall,
    Task,
    Unread,
    Value,
)


class Find(Value):
    """A worker's result: the pages read (best first), the best passages for its topic, the number
    of readable hits left, and whether a search was `answered`, if one was made.

    `heard` are the providers that answered, `found` is the number of hits, and `unread` are hits
    that could not be read.
    """

    topic: str
    round: int
    pages: tuple[Page, ...] = ()
    passages: tuple[Passage, ...] = ()
    left: int = 0
    answered: bool = True
    heard: tuple[str, ...] = ()
    found: int = 0
    unread: tuple[Unread, ...] = ()


class Earlier(Value):
    """The report of an earlier session with its evidence; `numbered` are the URLs of its sources,
    in order.
    """

    plan: Plan
    title: str = ""
    sections: tuple[Section, ...] = ()
    citations: tuple[Citation, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    coverage: tuple[Coverage, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()
    pages: tuple[Page, ...] = ()
    numbered: tuple[str, ...] = ()


class ResearchState(TypedDict, total=False):
    """What a run knows. Required channels are set by the first nodes or have a reducer."""

    question: Required[str]
    attachments: list[str]
    session_id: Required[str]
    #: The session that this thread opened last, to tell a new run from a named session.
    opened: str
    follows: str
    earlier: list[str]
    #: The answers to the `earlier` questions.
    answers: list[str]
    #: Requests about the report's form; its maximum words (0: as in the settings).
    wishes: str
    most_words: int
    #: The date on which the run began, since prompts read no clock.
    asked_on: str
    #: What the follow-up wants, and the earlier report if it is revised.
    turn: Required[Turn]
    before: Earlier | None
    #: By heading, the number of the earlier section that was rewritten.
    places: dict[str, int]
    attached: list[Page]
    plan: Required[Plan]
    #: How long a model planned, 0 if none did.
    plan_seconds: float
    #: The estimate; None if an existing report is only changed.
    forecast: Forecast | None
    tasks: Required[Annotated[list[Task], operator.add]]
    finds: Annotated[list[Find], operator.add]
    #: By URL; a later record replaces an earlier one.
    pages: Annotated[dict[str, Page], operator.or_]
    passages: dict[str, list[Passage]]
    #: The passages that a model was shown in any round.
    shown: Annotated[list[Passage], operator.add]
    evidence: Required[Annotated[list[Evidence], operator.add]]
    #: By topic; a later judgement replaces an earlier one.
    coverage: Required[Annotated[dict[str, Coverage], operator.or_]]
    rounds: Required[Annotated[list[Round], operator.add]]
    #: What the evidence lacks after the latest round.
    shortfalls: list[Shortfall]
    problems: Annotated[list[Problem], operator.add]
    stopped_by: str
    #: The outline's title for the report, "" for the question itself.
    title: str
    #: Entries that the outline does not use, aspects that no section covers, and shared terms.
    left_out: list[str]
    missing: list[str]
    names: list[str]
    sections: list[Section]
    citations: list[Citation]
    conflicts: list[Conflict]
    review: Review | None
    result: Result
    report: str


class ResearchInput(BaseModel):
    """Research a question that needs several sources: search, read, and write a report in
    Markdown in which every factual sentence cites words of a source.
    """

    # Clients' forms, and models that use the graph as a tool, see only the question; programs may
    # also set the other fields. `attachments` are file paths, `session_id` continues or names a
    # session, `follows` is the session to continue, `earlier` and `answers` are previous questions
    # and answers, oldest first, `wishes` are requests about the form, and `most_words` limits the
    # length.
    question: str = Field(description="What you want to know, as one complete question.")
    attachments: SkipJsonSchema[list[str]] = []
    session_id: SkipJsonSchema[str] = ""
    follows: SkipJsonSchema[str] = ""
    earlier: SkipJsonSchema[list[str]] = []
    answers: SkipJsonSchema[list[str]] = []
    wishes: SkipJsonSchema[str] = ""
    most_words: SkipJsonSchema[int] = 0


#: The defaults of a run's input, with which the next run begins.
GIVEN = ResearchInput(question="").model_dump(exclude={"question", "session_id"})


def proofs(state: ResearchState) -> list[Evidence]:
    """Return the entries in use: those that a topic's judgement names, or all if it is not
    judged.
    """
    coverage, known = state.get("coverage", {}), {e.id: e for e in state.get("evidence", [])}
    judged = [known[i] for found in coverage.values() for i in found.evidence_ids if i in known]
    return [*judged, *(e for e in known.values() if e.topic not in coverage)]


def queries_of(state: ResearchState) -> dict[str, tuple[str, ...]]:
    """Return the queries of each topic, each once, in order."""
    asked: dict[str, dict[str, None]] = {}
    for task in state.get("tasks", []):
        of = asked.setdefault(task.topic.name, {})
        of |= dict.fromkeys(query.text for query in task.queries)
    return {name: tuple(texts) for name, texts in asked.items()}


def checked_input(state: ResearchState) -> dict[str, Any]:
    """Return a run's validated input, except question and session; null counts as omitted. Raises
    SettingsError for an empty question or another shape.
    """
    asked = {name: state.get(name) for name in ResearchInput.model_fields}
    if not isinstance(asked["question"], str) or not asked["question"].strip():
        raise SettingsError("The question is empty. Say what you want to know.")
    try:
        given = ResearchInput.model_validate({n: v for n, v in asked.items() if v is not None})
    except ValidationError as error:
        raise SettingsError(sentence(error)) from None
    return given.model_dump(include=set(GIVEN))


def left_over(state: ResearchState) -> dict[str, Any]:
    """Return the update that clears the channels of an earlier run; {} in a new thread."""
    if not state.get("opened"):
        return {}
    gathered = ("tasks", "finds", "shown", "evidence", "rounds", "problems")
    lists = ("shortfalls", "left_out", "missing", "names", "sections", "citations", "conflicts")
    cleared: dict[str, Any] = dict.fromkeys(("before", "forecast", "review"))
    cleared |= dict.fromkeys(("stopped_by", "title", "report"), "")
    cleared |= {name: Overwrite([]) for name in gathered} | {name: [] for name in lists}
    cleared |= {name: Overwrite({}) for name in ("pages", "coverage")}
    return cleared | {"passages": {}, "places": {}}


class ResearchOutput(TypedDict, total=False):
    """The output of a run: the report in Markdown, and the whole result."""

    report: str
    result: Result


class WorkerState(TypedDict, total=False):
    """A worker's state: its task, and what it gathers for its result. Required channels are sent
    along or set before use.
    """

    session_id: Required[str]
    question: Required[str]
    task: Required[Task]
    #: Number of topics in the plan, and of workers in this round.
    topics: int
    tasks: int
    #: How long the model planned, 0 if none did.
    plan_seconds: float
    read_before: Required[list[str]]
    #: Topics whose workers share pages; empty if each may read anything.
    among: list[str]
    #: Whether the topics are parts of a survey.
    joint: bool
    #: Canonical URLs of pages assigned to other workers.
    taken: list[str]
    attached: Required[list[Page]]
    hits: Required[list[Hit]]
    #: Whether a search was answered, if one was made, and by which providers.
    answered: bool
    heard: list[str]
    chosen: Required[list[Hit]]
    reserve: Required[list[Hit]]
    drafts: Required[list[Page]]
    unread: list[Unread]
    pages: Required[list[Page]]
    finds: Annotated[list[Find], operator.add]
    problems: Annotated[list[Problem], operator.add]


class WorkerOutput(TypedDict, total=False):
    """The output of a worker: only channels with reducers, since many workers finish in one
    step.
    """

    finds: Annotated[list[Find], operator.add]
    problems: Annotated[list[Problem], operator.add]

"""The channels of the graph, one meaning and reducer each. Page texts are in the page store, so
checkpoints stay small.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Required

from langgraph.types import Overwrite
from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

# `typing`'s has no JSON schema for graphs before Python 3.12.
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
    """A worker's result: the pages read, best first, their best passages for its topic, the
    readable hits left, and whether a search was `answered`, if any.

    `heard` are the providers that answered, `found` the number of hits, `unread` those that could
    not be read.
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
    """A finished report with its evidence, from the session before. `numbered` are its sources'
    URLs in order.
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
    """A run's knowledge. Required channels are set by the first few nodes or filled by a
    reducer.
    """

    question: Required[str]
    attachments: list[str]
    session_id: Required[str]
    #: The session that this thread opened last, to distinguish a new run from a named session.
    opened: str
    follows: str
    earlier: list[str]
    #: Their answers.
    answers: list[str]
    #: Instructions about the report's form, and its maximum words (0: as in the settings).
    wishes: str
    most_words: int
    #: The date the run began: no prompt reads the clock.
    asked_on: str
    #: What the follow-up asks for, and the previous report if it is revised.
    turn: Required[Turn]
    before: Earlier | None
    #: The position in that report of each rewritten section, by heading.
    places: dict[str, int]
    attached: list[Page]
    plan: Required[Plan]
    #: The model's planning seconds; 0 if no model planned now.
    plan_seconds: float
    #: The estimate; None if only an existing report is changed.
    forecast: Forecast | None
    tasks: Required[Annotated[list[Task], operator.add]]
    finds: Annotated[list[Find], operator.add]
    #: By URL, the latest record of each.
    pages: Annotated[dict[str, Page], operator.or_]
    passages: dict[str, list[Passage]]
    #: Passages shown to a model, over all rounds.
    shown: Annotated[list[Passage], operator.add]
    evidence: Required[Annotated[list[Evidence], operator.add]]
    #: By topic, the latest judgement of each.
    coverage: Required[Annotated[dict[str, Coverage], operator.or_]]
    rounds: Required[Annotated[list[Round], operator.add]]
    #: What the evidence lacks after the latest round.
    shortfalls: list[Shortfall]
    problems: Annotated[list[Problem], operator.add]
    stopped_by: str
    #: The outline's title for the report, "" for the question itself.
    title: str
    #: Ids of entries unused by the outline, required aspects that no section covers, and shared
    #: terms.
    left_out: list[str]
    missing: list[str]
    names: list[str]
    sections: list[Section]
    citations: list[Citation]
    conflicts: list[Conflict]
    #: The editor's review, if any.
    review: Review | None
    result: Result
    report: str


class ResearchInput(BaseModel):
    """Research a question that needs reading: search, read, and write a report in Markdown in which
    every sentence of fact cites words that stand in a source.
    """

    # Forms, and models using the graph as a tool, are asked only for the question; programs may
    # also set fields that are in no schema. `attachments` are file paths; `session_id` continues or
    # names a session; `follows` is the id of a session whose pages are used first, `earlier` are
    # previous questions, oldest first, `answers` their answers; `wishes` are instructions about the
    # report's form, `most_words` limits its length.
    question: str = Field(description="What you want to know, as one whole question in words.")
    attachments: SkipJsonSchema[list[str]] = []
    session_id: SkipJsonSchema[str] = ""
    follows: SkipJsonSchema[str] = ""
    earlier: SkipJsonSchema[list[str]] = []
    answers: SkipJsonSchema[list[str]] = []
    wishes: SkipJsonSchema[str] = ""
    most_words: SkipJsonSchema[int] = 0


#: What an input may omit and a run leaves behind: the next run must only see its own input.
GIVEN = ResearchInput(question="").model_dump(exclude={"question", "session_id"})


def proofs(state: ResearchState) -> list[Evidence]:
    """Return the ledger as used: of a judged topic, the entries its judgement names, in order."""
    coverage, known = state.get("coverage", {}), {e.id: e for e in state.get("evidence", [])}
    judged = [known[i] for found in coverage.values() for i in found.evidence_ids if i in known]
    return [*judged, *(e for e in known.values() if e.topic not in coverage)]


def queries_of(state: ResearchState) -> dict[str, tuple[str, ...]]:
    """Return the distinct queries of each topic, in order."""
    asked: dict[str, dict[str, None]] = {}
    for task in state.get("tasks", []):
        of = asked.setdefault(task.topic.name, {})
        of |= dict.fromkeys(query.text for query in task.queries)
    return {name: tuple(texts) for name, texts in asked.items()}


def checked_input(state: ResearchState) -> dict[str, Any]:
    """Return a run's input other than question and session, validated and complete. Servers pass on
    anything; null counts as omitted. Raises SettingsError for another shape.
    """
    asked = {name: state.get(name) for name in ResearchInput.model_fields}
    if not isinstance(asked["question"], str) or not asked["question"].strip():
        raise SettingsError("The question is empty: say what you want to know.")
    try:
        given = ResearchInput.model_validate({n: v for n, v in asked.items() if v is not None})
    except ValidationError as error:
        raise SettingsError(sentence(error)) from None
    return given.model_dump(include=set(GIVEN))


def left_over(state: ResearchState) -> dict[str, Any]:
    """Return the update that clears an earlier run's channels; {} in a fresh thread."""
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
    """A run's output: the report as Markdown, and the whole result."""

    report: str
    result: Result


class WorkerState(TypedDict, total=False):
    """A worker's state: its task, and the hits, pages and passages on the way to its result.
    Required channels are sent along or set before use.
    """

    session_id: Required[str]
    question: Required[str]
    task: Required[Task]
    #: Numbers of topics in the plan and of workers in this round.
    topics: int
    tasks: int
    #: The model's planning seconds, 0 if it made none.
    plan_seconds: float
    read_before: Required[list[str]]
    #: Topics of the workers that share pages; empty if each may read anything.
    among: list[str]
    #: Whether those topics are parts of a survey.
    joint: bool
    #: Canonical URLs of pages assigned to other workers.
    taken: list[str]
    attached: Required[list[Page]]
    hits: Required[list[Hit]]
    #: Whether a search was answered, if any was made, and by whom.
    answered: bool
    heard: list[str]
    chosen: Required[list[Hit]]
    reserve: Required[list[Hit]]
    drafts: Required[list[Page]]
    #: Hits whose pages could not be read.
    unread: list[Unread]
    pages: Required[list[Page]]
    finds: Annotated[list[Find], operator.add]
    problems: Annotated[list[Problem], operator.add]


class WorkerOutput(TypedDict, total=False):
    """A worker's output: only channels with reducers, since many workers return at once."""

    finds: Annotated[list[Find], operator.add]
    problems: Annotated[list[Problem], operator.add]

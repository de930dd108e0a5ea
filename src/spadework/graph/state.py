"""The channels of the graph: one meaning and one reducer each. Page texts are in the page store, so
checkpoints stay small.
"""

from __future__ import annotations

import operator
from typing import Annotated, Any, Required

from langgraph.types import Overwrite
from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

# The one of `typing` gives a graph no JSON schema before Python 3.12.
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
    """What one worker brings back: the pages it read, best first, their best passages for its
    topic, and how many readable hits it left; whether a search was `answered`, where it asked any.

    `heard` are the providers that have answered it, `found` how many hits they gave, and `unread`
    those that it could not read.
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
    """A finished report with all it rests on, as the session before has left it. `numbered` are the
    URLs of its sources in their order.
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
    """What a run knows. Required is what every node behind the first few finds there: what these
    put into it, and what is gathered by a reducer.
    """

    question: Required[str]
    attachments: list[str]
    session_id: Required[str]
    #: The session that this thread opened last, to tell a new run from a session that was named.
    opened: str
    follows: str
    earlier: list[str]
    #: What was answered to them.
    answers: list[str]
    #: What is wished of the form of the report, and its words at most (0: as the settings say).
    wishes: str
    most_words: int
    #: The day on which the run began: no prompt reads the clock.
    asked_on: str
    #: What a follow-up wants of the report before, and that report where it is revised.
    turn: Required[Turn]
    before: Earlier | None
    #: The place in that report of each section that was written anew, by its heading.
    places: dict[str, int]
    attached: list[Page]
    plan: Required[Plan]
    #: How long a model took for it; 0 where none has made it now.
    plan_seconds: float
    #: What it was foreseen to take; None for what is made of a report that is there.
    forecast: Forecast | None
    tasks: Required[Annotated[list[Task], operator.add]]
    finds: Annotated[list[Find], operator.add]
    #: By URL, the newest record of each.
    pages: Annotated[dict[str, Page], operator.or_]
    passages: dict[str, list[Passage]]
    #: What a model was shown of the pages, in all rounds.
    shown: Annotated[list[Passage], operator.add]
    evidence: Required[Annotated[list[Evidence], operator.add]]
    #: By topic, the newest judgement of each.
    coverage: Required[Annotated[dict[str, Coverage], operator.or_]]
    rounds: Required[Annotated[list[Round], operator.add]]
    #: What the evidence lacks after the newest round.
    shortfalls: list[Shortfall]
    problems: Annotated[list[Problem], operator.add]
    stopped_by: str
    #: The title that the outline gives the report, "" for the question itself.
    title: str
    #: Entries that the outline does without, by id, what no section answers of what must be
    #: covered, and the names of what sections share.
    left_out: list[str]
    missing: list[str]
    names: list[str]
    sections: list[Section]
    citations: list[Citation]
    conflicts: list[Conflict]
    #: What an editor thinks of the report; None where none has read it.
    review: Review | None
    result: Result
    report: str


class ResearchInput(BaseModel):
    """Research a question that needs reading: search, read, and write a report in Markdown in which
    every sentence of fact cites words that stand in a source.
    """

    # A form, and a model that has the graph as a tool, are asked for the question alone; what else
    # a program may give is in no schema. `attachments` are paths of files; `session_id` continues
    # or names a session; `follows` is the id of a session whose pages are used first, `earlier` the
    # questions asked before this one, oldest first, `answers` what was answered to them; `wishes`
    # is what is wished of the report's form, `most_words` bounds its length.
    question: str = Field(description="What you want to know, as one whole question in words.")
    attachments: SkipJsonSchema[list[str]] = []
    session_id: SkipJsonSchema[str] = ""
    follows: SkipJsonSchema[str] = ""
    earlier: SkipJsonSchema[list[str]] = []
    answers: SkipJsonSchema[list[str]] = []
    wishes: SkipJsonSchema[str] = ""
    most_words: SkipJsonSchema[int] = 0


#: What an input may leave out, and a run leaves behind: the next has only what its own input gives.
GIVEN = ResearchInput(question="").model_dump(exclude={"question", "session_id"})


def proving(state: ResearchState) -> list[Evidence]:
    """The ledger as it is told: of a judged topic the entries its judgement names, in its order."""
    coverage, known = state.get("coverage", {}), {e.id: e for e in state.get("evidence", [])}
    judged = [known[i] for found in coverage.values() for i in found.evidence_ids if i in known]
    return [*judged, *(e for e in known.values() if e.topic not in coverage)]


def queries_of(state: ResearchState) -> dict[str, tuple[str, ...]]:
    """What was searched for each topic, in order, each once."""
    asked: dict[str, dict[str, None]] = {}
    for task in state.get("tasks", []):
        of = asked.setdefault(task.topic.name, {})
        of |= dict.fromkeys(query.text for query in task.queries)
    return {name: tuple(texts) for name, texts in asked.items()}


def checked_input(state: ResearchState) -> dict[str, Any]:
    """What was given for a run beside its question and session, whole. A server passes on whatever
    it is given; null is as if it were left out. Raises SettingsError for another shape.
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
    """The update that clears what an earlier run in a thread has gathered; {} in a fresh one."""
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
    """What a run hands over: the report as Markdown, and the whole result."""

    report: str
    result: Result


class WorkerState(TypedDict, total=False):
    """What a worker knows: its task, and the hits, pages and passages on the way to its find. What
    is required it is sent with, or has found when a node asks for it.
    """

    session_id: Required[str]
    question: Required[str]
    task: Required[Task]
    #: How many topics the plan has, and how many workers are sent in this round.
    topics: int
    tasks: int
    #: Seconds that the model took for the plan, 0 where it made none.
    plan_seconds: float
    read_before: Required[list[str]]
    #: The topics of the workers among whom pages are dealt out; none where each may read what it
    #: likes.
    among: list[str]
    #: Whether those topics are parts of one matter, a survey.
    joint: bool
    #: The canonical URLs of pages that other workers were dealt.
    taken: list[str]
    attached: Required[list[Page]]
    hits: Required[list[Hit]]
    #: Whether any search was answered, where one was asked, and who has answered.
    answered: bool
    heard: list[str]
    chosen: Required[list[Hit]]
    reserve: Required[list[Hit]]
    drafts: Required[list[Page]]
    #: The hits whose pages could not be read.
    unread: list[Unread]
    pages: Required[list[Page]]
    finds: Annotated[list[Find], operator.add]
    problems: Annotated[list[Problem], operator.add]


class WorkerOutput(TypedDict, total=False):
    """What a worker hands back; only channels with reducers, since many workers answer at once."""

    finds: Annotated[list[Find], operator.add]
    problems: Annotated[list[Problem], operator.add]

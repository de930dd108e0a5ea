"""The channels of the graph's state, each with at most one reducer. Page texts are stored
elsewhere, so that checkpoints stay small.
"""

from __future__ import annotations

import contextlib
import operator
from typing import Annotated, Any, Required

from langgraph.types import Overwrite
from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

# Before Python 3.12, graphs get no JSON schema from `typing.TypedDict`.
from typing_extensions import TypedDict

from spadework import values
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
    """The result of a worker: the pages read (best first), and the best passages for its topic.
    - `left`: number of readable hits that were not read; `found`: number of all hits.
    - `answered`: false if every search failed.
    - `heard`: the providers that answered.
    - `unread`: the hits that could not be read.
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
    """An earlier session's report and evidence. `numbered` lists its source URLs by number."""

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
    """The state of a run. Required channels have a reducer or are set by the first nodes."""

    question: Required[str]
    attachments: list[str]
    session_id: Required[str]
    #: The id of the last session opened in this graph thread. A run that starts with this id in
    #: `session_id` gets a new id.
    opened: str
    follows: str
    earlier: list[str]
    answers: list[str]
    #: `wishes`: the user's requests about the report's form; `most_words`: the report's maximum
    #: number of words (0: the limit in the settings).
    wishes: str
    most_words: int
    #: The run's start date. Prompts use it instead of the current date, so that a replay sends the
    #: same prompts.
    asked_on: str
    #: `turn`: the classified follow-up; `before`: the earlier report, if this run revises or
    #: extends it.
    turn: Required[Turn]
    before: Earlier | None
    #: Maps each rewritten section's new heading to its position in the earlier report.
    places: dict[str, int]
    attached: list[Page]
    plan: Required[Plan]
    #: Seconds that the model took to plan (0 without a model).
    plan_seconds: float
    #: The run's forecast, or None if the run only changes an existing report.
    forecast: Forecast | None
    tasks: Required[Annotated[list[Task], operator.add]]
    finds: Annotated[list[Find], operator.add]
    #: Pages by URL. A page read later replaces an earlier one with the same URL.
    pages: Annotated[dict[str, Page], operator.or_]
    passages: dict[str, list[Passage]]
    #: The passages shown to a model in any round.
    shown: Annotated[list[Passage], operator.add]
    evidence: Required[Annotated[list[Evidence], operator.add]]
    #: Judgements by topic. A later judgement replaces the topic's earlier one.
    coverage: Required[Annotated[dict[str, Coverage], operator.or_]]
    rounds: Required[Annotated[list[Round], operator.add]]
    #: Gaps in the evidence after the latest round.
    shortfalls: list[Shortfall]
    problems: Annotated[list[Problem], operator.add]
    stopped_by: str
    #: The report's title from the outline, or "" if the question serves as the title.
    title: str
    #: `left_out`: ledger entries that the outline does not use; `missing`: gaps that no section
    #: covers (None if not checked); `names`: terms that several sections use.
    left_out: list[str]
    missing: list[str] | None
    names: list[str]
    sections: list[Section]
    citations: list[Citation]
    conflicts: list[Conflict]
    review: Review | None
    result: Result
    report: str


class ResearchInput(BaseModel):
    """Research a question that needs several sources: search, read, and write a report in Markdown
    in which every factual sentence cites the words of a source.
    """

    # Input forms and models see only the question, because the JSON schema leaves out the other
    # fields. Programs can set these too.
    question: str = Field(description="What you want to know, as one complete question.")
    attachments: SkipJsonSchema[list[str]] = []
    session_id: SkipJsonSchema[str] = ""
    follows: SkipJsonSchema[str] = ""
    earlier: SkipJsonSchema[list[str]] = []
    answers: SkipJsonSchema[list[str]] = []
    wishes: SkipJsonSchema[str] = ""
    most_words: SkipJsonSchema[int] = 0


#: The default input, restored after each run for the next run of the same thread.
GIVEN = ResearchInput(question="").model_dump(exclude={"question", "session_id"})


def proofs(state: ResearchState) -> list[Evidence]:
    """Return the evidence on which judgements rest, and all evidence of topics not yet judged."""
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
    """Return the validated input of a run, without the question and the session id. Raises
    SettingsError if the question is empty or a field has the wrong type.
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
    """Return a state update that clears what an earlier run left in the channels."""
    if not state.get("opened"):
        return {}
    gathered = ("tasks", "finds", "shown", "evidence", "rounds", "problems")
    lists = ("shortfalls", "left_out", "names", "sections", "citations", "conflicts")
    cleared: dict[str, Any] = dict.fromkeys(("before", "forecast", "review", "missing"))
    cleared |= dict.fromkeys(("stopped_by", "title", "report"), "")
    cleared |= {name: Overwrite([]) for name in gathered} | {name: [] for name in lists}
    cleared |= {name: Overwrite({}) for name in ("pages", "coverage")}
    return cleared | {"passages": {}, "places": {}}


class ResearchOutput(TypedDict, total=False):
    """A run's Markdown report and its complete result."""

    report: str
    result: Result


class WorkerState(TypedDict, total=False):
    """The state of a worker. Required channels come with its task or are set before use."""

    session_id: Required[str]
    question: Required[str]
    task: Required[Task]
    #: `topics`: number of topics in the plan; `tasks`: number of workers in this round.
    topics: int
    tasks: int
    #: Seconds that the model took to plan (0 without a model).
    plan_seconds: float
    read_before: Required[list[str]]
    #: Topics among which pages are divided. The list is empty if the worker may read any page.
    among: list[str]
    #: True if the topics are parts of a survey.
    joint: bool
    #: Canonical URLs of pages assigned to other workers.
    taken: list[str]
    attached: Required[list[Page]]
    hits: Required[list[Hit]]
    #: `answered` is false if every search failed. `heard` names the providers that answered.
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
    """A worker's output: only channels with reducers, because many workers finish in one step."""

    finds: Annotated[list[Find], operator.add]
    problems: Annotated[list[Problem], operator.add]


def _stored_values() -> frozenset[tuple[str, str]]:
    found = [
        kind
        for kind in (*vars(values).values(), *globals().values())
        if isinstance(kind, type) and issubclass(kind, values.Value)
    ]
    return frozenset((kind.__module__, kind.__name__) for kind in found)


OUR_VALUES = _stored_values()


def register_values() -> None:
    """Register our value classes as safe to load in all checkpointers of this process."""
    with contextlib.suppress(ImportError, AttributeError):
        from langgraph.checkpoint.serde import _msgpack

        _msgpack.SAFE_MSGPACK_TYPES = _msgpack.SAFE_MSGPACK_TYPES | OUR_VALUES

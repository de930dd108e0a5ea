"""The graph's channels, each with one meaning and one reducer. Page texts are kept elsewhere, so
that checkpoints stay small.
"""

from __future__ import annotations

import contextlib
import operator
from typing import Annotated, Any, Required

from langgraph.types import Overwrite
from pydantic import BaseModel, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

# The `TypedDict` of `typing` has no JSON schema in graphs before Python 3.12.
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
    """The report and evidence of an earlier session. `numbered` holds its source URLs in order."""

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
    """The state of a run. Required channels are set by the first nodes or have a reducer."""

    question: Required[str]
    attachments: list[str]
    session_id: Required[str]
    #: The session that this thread opened last. If `session_id` has not changed since, the next
    #: run gets a new id.
    opened: str
    follows: str
    earlier: list[str]
    answers: list[str]
    #: Requests about the report's form, and its maximum length in words (0: as in the settings).
    wishes: str
    most_words: int
    #: The start date of the run. Prompts use it, because they must not read the clock.
    asked_on: str
    #: The classified follow-up, and the earlier report if it is to be revised.
    turn: Required[Turn]
    before: Earlier | None
    #: Maps the new heading of each rewritten section to its position in the earlier report.
    places: dict[str, int]
    attached: list[Page]
    plan: Required[Plan]
    #: Seconds that the model took to plan (0 if no model planned).
    plan_seconds: float
    #: The forecast, or None if the run only changes an existing report.
    forecast: Forecast | None
    tasks: Required[Annotated[list[Task], operator.add]]
    finds: Annotated[list[Find], operator.add]
    #: By URL; later pages replace earlier ones.
    pages: Annotated[dict[str, Page], operator.or_]
    passages: dict[str, list[Passage]]
    #: The passages shown to a model in any round.
    shown: Annotated[list[Passage], operator.add]
    evidence: Required[Annotated[list[Evidence], operator.add]]
    #: By topic; later judgements replace earlier ones.
    coverage: Required[Annotated[dict[str, Coverage], operator.or_]]
    rounds: Required[Annotated[list[Round], operator.add]]
    #: Gaps in the evidence after the latest round.
    shortfalls: list[Shortfall]
    problems: Annotated[list[Problem], operator.add]
    stopped_by: str
    #: The report title from the outline, or "" to use the question.
    title: str
    #: `left_out`: entries that the outline does not use; `missing`: aspects and gaps that no
    #: section covers (None if nobody looked for them); `names`: terms that sections share.
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

    # Clients' forms, and models that use the graph as a tool, see only the question. Programs may
    # also set the other fields: `attachments` are file paths, `session_id` continues or names a
    # session, `follows` is the session to continue, `earlier` and `answers` are previous questions
    # and answers (oldest first), `wishes` are requests about the form, and `most_words` limits the
    # length.
    question: str = Field(description="What you want to know, as one complete question.")
    attachments: SkipJsonSchema[list[str]] = []
    session_id: SkipJsonSchema[str] = ""
    follows: SkipJsonSchema[str] = ""
    earlier: SkipJsonSchema[list[str]] = []
    answers: SkipJsonSchema[list[str]] = []
    wishes: SkipJsonSchema[str] = ""
    most_words: SkipJsonSchema[int] = 0


#: The defaults of the input, restored after each run for the next run of the thread.
GIVEN = ResearchInput(question="").model_dump(exclude={"question", "session_id"})


def proofs(state: ResearchState) -> list[Evidence]:
    """Return the evidence in use: the entries named by a topic's judgement, and all entries of
    topics without a judgement.
    """
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
    """Return a run's validated input, without the question and session. Null values count as
    omitted. Raises SettingsError for an empty question or a wrong shape.
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
    """Return the update that clears an earlier run's channels, or {} in a new thread."""
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
    """The output of a run: the report in Markdown, and the whole result."""

    report: str
    result: Result


class WorkerState(TypedDict, total=False):
    """The state of a worker: its task, and what it gathers for the result.
    Required channels are sent with the task, or set before they are used.
    """

    session_id: Required[str]
    question: Required[str]
    task: Required[Task]
    #: Number of topics in the plan, and number of workers in this round.
    topics: int
    tasks: int
    #: Seconds that the model took to plan (0 if no model planned).
    plan_seconds: float
    read_before: Required[list[str]]
    #: Topics whose workers share pages; empty if the worker may read any page.
    among: list[str]
    #: True if the topics are parts of a survey.
    joint: bool
    #: Canonical URLs of pages assigned to other workers.
    taken: list[str]
    attached: Required[list[Page]]
    hits: Required[list[Hit]]
    #: `answered` is true unless every search failed. `heard` holds the providers that answered.
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
    """A worker's output. It has only channels with reducers, because many workers finish in one
    step.
    """

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
    """Register our values as safe with all checkpointers of this process, so that the
    checkpointers of servers and enclosing graphs do not warn about them. They are safe because
    they are plain data: creating them runs no code.
    """
    with contextlib.suppress(ImportError, AttributeError):
        from langgraph.checkpoint.serde import _msgpack

        _msgpack.SAFE_MSGPACK_TYPES = _msgpack.SAFE_MSGPACK_TYPES | OUR_VALUES

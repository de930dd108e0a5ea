"""What is judged: coverage of topics, what would fill their gaps, and what disagrees."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from spadework.values.value import Value

Priority = Literal["high", "medium", "low"]
#: How far a topic is proven by the ledger.
CoverageState = Literal["answered", "partly", "open"]
#: How a state is told to people.
STATE_WORDS: dict[CoverageState, str] = {
    "answered": "answered",
    "partly": "partly answered",
    "open": "open",
}


def state_as_whole(topics: int, covered: int, evidence: int) -> CoverageState | None:
    """How far all topics of a result are proven together, by how many there are, how many of them
    are covered and how much evidence there is of those that are not open; None where there were no
    topics.
    """
    if not topics:
        return None
    if covered >= topics:
        return "answered"
    return "partly" if covered or evidence else "open"


class Recommendation(Value):
    """A search that would fill a gap; `led_to`: by a name met in pages, whose own may hold it."""

    query: str
    purpose: str = ""
    led_to: bool = False
    priority: Priority = "medium"
    max_results: int = Field(default=5, ge=1, le=10)
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


class Quality(Value):
    """The passages of a topic as a base for an answer, each criterion 0..10 (S9)."""

    accuracy: float = Field(ge=0, le=10)
    completeness: float = Field(ge=0, le=10)
    relevance: float = Field(ge=0, le=10)
    source_quality: float = Field(ge=0, le=10)
    clarity: float = Field(ge=0, le=10)

    @property
    def mean(self) -> float:
        """The mean of the five."""
        scores: dict[str, float] = vars(self)
        return round(sum(scores.values()) / 5, 2)


class Shortfall(Value):
    """What the evidence lacks of a `topic`, or as a whole (""); it never un-covers one."""

    kind: Literal[
        "definition",
        "steps",
        "code",
        "dates",
        "navigation",
        "confirmation",
        "quality",
        "freshness",
        "domains",
    ]
    topic: str = ""
    text: str
    recommendation: Recommendation


class Coverage(Value):
    """How far one topic is proven by the ledger. `score` is 0..1; `gaps` say in words what is
    missing.

    `quality` is the newest judgement, None where none was asked for; `near`: its evidence probably
    answers nothing, and is only the nearest that was read.
    """

    topic: str
    covered: bool
    score: float = Field(ge=0, le=1)
    evidence_ids: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    quality: Quality | None = None
    near: bool = False

    @property
    def state(self) -> CoverageState:
        """Answered, partly (something is quoted that may answer it), or open."""
        if self.covered:
            return "answered"
        return "partly" if self.evidence_ids and not self.near else "open"


class Round(Value):
    """What one round of searching added: evidence, mean coverage score (0..1) and mean quality
    (0..10) before and after it.

    A topic that was not judged again keeps its score, so what changed is what the round gained.
    """

    number: int
    evidence_before: int
    evidence_after: int
    score: float
    score_before: float = 0.0
    quality: float | None = None
    quality_before: float | None = None


class Side(Value):
    """One side of a conflict: what it states, on which evidence, with which weight (0..1).

    `changed_copy`: only newer near-copies of pages of another side tell it, with this changed.
    """

    claim: str
    evidence_ids: tuple[str, ...]
    weight: float
    changed_copy: bool = False


class Conflict(Value):
    """Evidence of one topic that disagrees."""

    topic: str
    kind: Literal["number", "date", "negation", "value"]
    sides: tuple[Side, ...]

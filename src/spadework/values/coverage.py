"""Data types for topic coverage, searches that fill gaps, and disagreements between sources."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from spadework.values.value import CODE, Value

Priority = Literal["high", "medium", "low"]
CoverageState = Literal["answered", "partly", "open"]
STATE_WORDS: dict[CoverageState, str] = {
    "answered": "answered",
    "partly": "partly answered",
    "open": "open",
}


def state_as_whole(topics: int, covered: int, evidence: int) -> CoverageState | None:
    """Return the coverage state of all topics together, or None if there are no topics. The
    arguments count all topics, covered topics, and pieces of evidence for topics that are not
    open.
    """
    if not topics:
        return None
    if covered >= topics:
        return "answered"
    return "partly" if covered or evidence else "open"


class Recommendation(Value):
    """A search to fill a gap. `led_to` means that it is about a name that the evidence mentions."""

    query: str
    purpose: str = ""
    led_to: bool = False
    priority: Priority = "medium"
    max_results: int = Field(default=5, ge=1, le=10)
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


class Quality(Value):
    """The quality of a topic's passages, rated from 0 to 10 on each criterion."""

    accuracy: float = Field(ge=0, le=10)
    completeness: float = Field(ge=0, le=10)
    relevance: float = Field(ge=0, le=10)
    source_quality: float = Field(ge=0, le=10)
    clarity: float = Field(ge=0, le=10)

    @property
    def mean(self) -> float:
        """The mean of the five criteria."""
        scores: dict[str, float] = vars(self)
        return round(sum(scores.values()) / 5, 2)


class Shortfall(Value):
    """Something missing from the evidence for a `topic` ("" means all topics)."""

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
    """How well the ledger (the collected evidence) covers a topic.
    - `score`: 0..1; `quality`: the latest rating.
    - `gaps`: what is missing.
    - `differences`: figures, dates and names on which sources differ.
    - `near`: the evidence is only the closest match, and probably does not address the topic.
    - `judge`: the name of the model that judged the topic, or `CODE`.
    """

    topic: str
    covered: bool
    score: float = Field(ge=0, le=1)
    evidence_ids: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    quality: Quality | None = None
    near: bool = False
    judge: str = CODE

    @property
    def state(self) -> CoverageState:
        """The topic's state: answered, partly (a quote may answer it), or open."""
        if self.covered:
            return "answered"
        return "partly" if self.evidence_ids and not self.near else "open"


class Round(Value):
    """The evidence count, mean score (0..1) and mean quality (0..10) before and after a round."""

    number: int
    evidence_before: int
    evidence_after: int
    score: float
    score_before: float = 0.0
    quality: float | None = None
    quality_before: float | None = None


class Side(Value):
    """One side of a disagreement between sources, with its weight (0..1). `changed_copy` means that
    all of its pages are newer, changed copies of another side's pages.
    """

    claim: str
    evidence_ids: tuple[str, ...]
    weight: float
    changed_copy: bool = False


class Conflict(Value):
    """A contradiction in the evidence for one topic."""

    topic: str
    kind: Literal["number", "date", "negation", "value"]
    sides: tuple[Side, ...]

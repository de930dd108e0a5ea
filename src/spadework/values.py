"""The values that flow through a run, in the order of the loop: question, plan, hits, pages, passages, evidence, coverage, report.

All are frozen and small: the text of a page lives in the page store under its content hash, never in a value.
Offsets count code points in that text.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

QueryKind = Literal["original", "paraphrase", "broad", "specific", "gap"]
QuestionType = Literal["what", "howto", "compare", "why", "fact", "latest", "list", "evaluate", "general"]
Complexity = Literal["simple", "moderate", "complex"]
Freshness = Literal["any", "recent", "now"]
Priority = Literal["high", "medium", "low"]
Verdict = Literal["supported", "contradicted", "unsupported", "could not check"]
Status = Literal["completed", "time_limited", "budget_limited", "partial", "failed"]
Mode = Literal["model", "extractive"]
SectionKind = Literal["summary", "topic", "code", "conflicts", "limits"]


class Value(BaseModel):
    """A frozen value; an unknown field is an error, so that a typing slip cannot pass silently."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Question(Value):
    """What was asked, with the files given along and the wishes for the answer. `earlier` are the questions it follows up, oldest first."""

    text: str
    earlier: tuple[str, ...] = ()
    attachments: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    language: str = ""


class Query(Value):
    """One phrasing of what is looked for, how recent the pages should be, and the domains to keep to or to keep away from.

    `results` is how many new pages are wanted of it, 0 for as many as the settings say.
    """

    text: str
    kind: QueryKind = "original"
    freshness: Freshness = "any"
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    results: int = Field(0, ge=0, le=100)


class Topic(Value):
    """One thing a complete answer must cover. `must_cover` are words or aspects that its evidence should show."""

    name: str
    question: str
    must_cover: tuple[str, ...] = ()
    queries: tuple[Query, ...] = ()


class Plan(Value):
    """The topics of a question and what kind of question it is. `subjects` are the things it is about."""

    question: str
    question_type: QuestionType = "general"
    complexity: Complexity = "moderate"
    freshness: Freshness = "any"
    language: str = "en"
    subjects: tuple[str, ...] = ()
    topics: tuple[Topic, ...] = Field(min_length=1)


class Span(Value):
    """From `low` to `high`."""

    low: float = 0.0
    high: float = 0.0


class Forecast(Value):
    """What a run will take, as ranges; `workers` is the topics searched at once. Money is in US dollars, None where a price is unknown."""

    workers: int
    rounds: Span
    searches: Span
    pages: Span
    calls: Span
    tokens: Span
    seconds: Span
    money: Span | None


class Task(Value):
    """What one worker is sent to find: a topic, the queries of this round (all first, then only the gaps'), and how many pages to read.

    `broad` asks for that many pages which no other worker reads: a survey lives of their number.
    """

    topic: Topic
    queries: tuple[Query, ...]
    round: int = 1
    pages: int = 10
    broad: bool = False


class Found(Value):
    """Where a hit was found: by which query, at which provider, at which rank (from 1)."""

    query: str
    kind: QueryKind
    provider: str
    rank: int


class Hit(Value):
    """A search result. `relevance` is 0..1 (S5); `rrf` is set by fusion; `found_by` names every list it stood in."""

    url: str
    title: str = ""
    snippet: str = ""
    position: int = 1
    provider: str = ""
    query: str = ""
    published_at: datetime | None = None
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()


class Page(Value):
    """A page that was read. Its cleaned Markdown is in the page store under `content_hash`; `chars` is its length.

    `level` is how it was had: 0 plain HTTP, 1 browser-like headers, 2 and 3 a browser; -1 a local document. `stale`: its server could
    not be reached, and this is a copy from before. `linked` is its PageRank among the pages read, 0..1. `known`: an earlier run has read
    it, and it was taken from the knowledge store.
    """

    url: str
    title: str = ""
    level: int = 0
    status: int = 200
    media_type: str = "text/html"
    published_at: datetime | None = None
    fetched_at: datetime
    content_hash: str
    chars: int
    stale: bool = False
    known: bool = False
    cleaned_by: str = "rules"
    origin: str = ""
    linked: float = 0.0
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()


class Passage(Value):
    """A stretch `start:end` of the page `content_hash`, cut at headings and paragraphs; `score` ranks it for one topic."""

    content_hash: str
    start: int
    end: int
    score: float
    topic: str


class Evidence(Value):
    """A numbered entry of the ledger: `quote` stands verbatim at `start:end` of the page `content_hash`.

    `origin` groups near-copies of one text, so that twelve copies count once. `language` is that of code, as its page names it.
    """

    id: str
    topic: str
    quote: str
    url: str
    start: int
    end: int
    content_hash: str
    fetched_at: datetime
    published_at: datetime | None = None
    origin: str
    kind: Literal["text", "item", "code"] = "text"
    language: str = ""


class Recommendation(Value):
    """A search that would fill a gap."""

    query: str
    purpose: str = ""
    priority: Priority = "medium"
    max_results: int = Field(5, ge=1, le=10)
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
        return round((self.accuracy + self.completeness + self.relevance + self.source_quality + self.clarity) / 5, 2)


class Shortfall(Value):
    """What the evidence lacks though its topic may be covered; it never un-covers one. `topic` is "" for the evidence as a whole."""

    kind: Literal["definition", "steps", "code", "dates", "navigation", "quality", "freshness", "domains"]
    topic: str = ""
    text: str
    recommendation: Recommendation


class Coverage(Value):
    """How far one topic is proven by the ledger. `score` is 0..1; `gaps` say in words what is missing.

    `quality` is the newest judgement, None where none was asked for.
    """

    topic: str
    covered: bool
    score: float = Field(ge=0, le=1)
    evidence_ids: tuple[str, ...] = ()
    gaps: tuple[str, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    quality: Quality | None = None


class Round(Value):
    """What one round of searching added: evidence, mean coverage score (0..1) and mean quality (0..10) before and after it.

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
    """One side of a conflict: what it states, on which evidence, with which weight (0..1)."""

    claim: str
    evidence_ids: tuple[str, ...]
    weight: float


class Conflict(Value):
    """Evidence of one topic that disagrees."""

    topic: str
    kind: Literal["number", "date", "negation", "value"]
    sides: tuple[Side, ...]


class Sentence(Value):
    """A sentence of the report (or a code block, which is exact) and the evidence it rests on."""

    text: str
    evidence_ids: tuple[str, ...] = ()
    code: bool = False
    language: str = ""


class Section(Value):
    """A heading and its sentences."""

    heading: str
    kind: SectionKind = "topic"
    sentences: tuple[Sentence, ...] = ()


class Report(Value):
    """The answer as typed sections; `title` is the question."""

    title: str
    sections: tuple[Section, ...] = ()


class Citation(Value):
    """A sentence that stands in the report, one evidence it cites, and what the verifier found."""

    sentence: str
    evidence_id: str
    verdict: Verdict


class Source(Value):
    """A numbered source of the report: `[n]` in its text is `n` here. `known`: it was taken from the knowledge store."""

    n: int
    url: str
    title: str
    domain: str
    level: int
    relevance: float
    trust: float
    found_by: tuple[Found, ...] = ()
    published_at: datetime | None = None
    content_hash: str
    known: bool = False


class Problem(Value):
    """What could not be done: at which stage, to what, why, and what it cost the answer."""

    stage: str
    subject: str
    reason: str
    effect: str = ""


class Usage(Value):
    """What a run has used. Money is in US dollars; None where a price is not known."""

    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = 0.0
    searches: int = 0
    fetches: int = 0
    pages: int = 0
    bytes: int = 0
    cache_hits: int = 0


class CoveredTopic(Value):
    """A topic of a result with its evidence."""

    name: str
    covered: bool
    score: float
    evidence: tuple[Evidence, ...] = ()
    gaps: tuple[str, ...] = ()
    quality: Quality | None = None


class Result(Value):
    """All a run hands over; `report` is the Markdown of `document`, `opinion` what an editor thinks of it in deep effort."""

    session_id: str
    question: str
    status: Status
    stopped_by: str = ""
    mode: Mode
    confidence: float
    topics: tuple[CoveredTopic, ...] = ()
    sources: tuple[Source, ...] = ()
    report: str
    document: Report
    opinion: str = ""
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    problems: tuple[Problem, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()
    rounds: tuple[Round, ...] = ()
    searched: tuple[str, ...] = ()
    usage: Usage = Usage()
    timings: dict[str, float] = Field(default_factory=dict)
    iterations: int = 0
    session_dir: str = ""

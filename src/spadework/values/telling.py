"""What is handed over: the report, its sources, what failed, what it took, in one result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from spadework.values.asking import Forecast
from spadework.values.finding import Evidence, Found, Unread
from spadework.values.judging import (
    Conflict,
    CoverageState,
    Quality,
    Round,
    Shortfall,
    state_as_whole,
)
from spadework.values.publisher import tell_beside
from spadework.values.value import Value

Verdict = Literal[
    "supported", "partly", "contradicted", "unsupported", "could not check", "inference"
]
Status = Literal["completed", "time_limited", "budget_limited", "partial", "failed"]
Mode = Literal["model", "extractive"]
SectionKind = Literal["summary", "topic", "code", "conflicts", "limits"]
#: How sentences are set.
Form = Literal["paragraph", "bullets", "steps", "table", "code", "heading"]


#: Who made or judged a sentence where no model did.
CODE, NOBODY = "code", "nobody"


class Sentence(Value):
    """A sentence of the report, or code, and its evidence; `inferred`: it concludes from that.
    `maker` is the name of the model that wrote it, or `CODE`.
    """

    text: str
    evidence_ids: tuple[str, ...] = ()
    inferred: bool = False
    code: bool = False
    language: str = ""
    maker: str = CODE

    def made_by(self, maker: str) -> Sentence:
        """Return it as a sentence of this maker."""
        return self.model_copy(update={"maker": maker})


class Part(Value):
    """A stretch of a section that is set in one form, and how many sentences each of its items
    takes, in order: a paragraph and code have one item, a list one an item, a table one a cell, row
    by row under its `columns`. A sub-heading has a `text` and none. What is `quoted` is in the
    words of pages, emphasised as they are; where no table is made of it, code sets it.
    """

    form: Form
    text: str = ""
    columns: tuple[str, ...] = ()
    takes: tuple[int, ...] = ()
    quoted: bool = False

    @property
    def by_code(self) -> bool:
        """Whether code sets its sentences, as it does those of no part."""
        return self.quoted and self.form != "table"


class Section(Value):
    """A heading and its sentences; `parts` say how they are set, () where code sets them."""

    heading: str
    kind: SectionKind = "topic"
    sentences: tuple[Sentence, ...] = ()
    parts: tuple[Part, ...] = ()

    def followed_by(self, other: Section) -> Section:
        """The section with the sentences of another behind its own, all set as they were."""
        told, parts = (*self.sentences, *other.sentences), [*_parts_of_all(self)]
        for part in _parts_of_all(other):
            if parts and parts[-1].by_code and part.by_code:
                part = part.model_copy(update={"takes": (*parts.pop().takes, *part.takes)})
            parts.append(part)
        set_ = tuple(parts) if self.parts or other.parts else ()
        return self.model_copy(update={"sentences": told, "parts": set_})

    def made_by(self, maker: str) -> Section:
        """Return it with all sentences as those of this maker."""
        told = tuple(one.made_by(maker) for one in self.sentences)
        return self.model_copy(update={"sentences": told})

    def changed(self, changes: Mapping[int, Sequence[Sentence]]) -> Section:
        """The section with other sentences, or none, in the place of those at some positions. A
        part of which nothing is left goes, too; cells of a table stay, empty, but for whole rows.
        """
        after = [tuple(changes.get(n, (one,))) for n, one in enumerate(self.sentences)]
        parts, at = [], 0
        for part in self.parts:
            takes = []
            for count in part.takes:
                takes.append(sum(map(len, after[at : at + count])))
                at += count
            kept = _rows(takes, part.columns) if part.form == "table" else list(filter(None, takes))
            if any(kept) or part.form == "heading":
                parts.append(part.model_copy(update={"takes": tuple(kept)}))
        told = tuple(one for some in after for one in some)
        return self.model_copy(update={"sentences": told, "parts": _without_bare(parts)})


def _parts_of_all(section: Section) -> tuple[Part, ...]:
    """The parts of a section, and one for what none of them takes."""
    left = len(section.sentences) - sum(count for part in section.parts for count in part.takes)
    rest = Part(form="paragraph", takes=(1,) * left, quoted=True)
    return (*section.parts, rest) if left > 0 else section.parts


def _rows(takes: Sequence[int], columns: Sequence[str]) -> list[int]:
    """What the cells of a table take, without the rows that are empty."""
    width = max(1, len(columns))
    rows = [takes[n : n + width] for n in range(0, len(takes), width)]
    return [count for row in rows if any(row) for count in row]


def _without_bare(parts: Sequence[Part]) -> tuple[Part, ...]:
    """The parts without sub-headings under which nothing stands."""
    forms = [*(part.form for part in parts[1:]), "heading"]
    both = zip(parts, forms[: len(parts)], strict=True)
    return tuple(part for part, after in both if {part.form, after} != {"heading"})


class Report(Value):
    """The answer as sections under the question; `language` is that of what code tells of it."""

    title: str
    sections: tuple[Section, ...] = ()
    language: str = "en"

    def heading_of(self, section: Section) -> str:
        """What stands above a section: nothing over the only topic, which is the question."""
        first = section in self.sections[:1]
        again = first and section.kind == "topic" and section.heading == self.title
        return "" if again else section.heading


class Weakness(Value):
    """A weakness of a report. It goes back to the writer of its `section`; where `query` is named,
    that is searched first, for `topic`. `outcome` says what became of it.
    """

    text: str
    section: str = ""
    topic: str = ""
    query: str = ""
    outcome: str = ""


class Review(Value):
    """What an editor thinks of a report, as it stood with these `sections` and so many entries in
    the ledger. `done`: what was asked for has been tried, and the report stands.
    """

    verdict: str
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[Weakness, ...] = ()
    sections: tuple[Section, ...] = ()
    entries: int = 0
    done: bool = False


class Citation(Value):
    """A sentence that stands in the report, one evidence it cites, and what the verifier found.
    `maker` wrote the sentence and `judge` found that: the name of a model, `CODE` or `NOBODY`.
    """

    sentence: str
    evidence_id: str
    verdict: Verdict
    maker: str = CODE
    judge: str = NOBODY


def models_among(names: Iterable[str]) -> list[str]:
    """Return the models among makers or judges of sentences, those of most sentences first."""
    counts = Counter(name for name in names if name not in (CODE, NOBODY))
    return [name for name, _ in counts.most_common()]


class Source(Value):
    """A numbered source of the report: `[n]` in its text is `n` here. `known`: it was taken from
    the knowledge store. `publisher` is who published it, where a search has said so. `trust` is the
    weighted sum of `trust_parts` (authority, consistency, publisher, recency), all 0..1. `unused`
    says why no sentence rests on it, "" where one does. `shape` is what came, such as "web page" or
    "PDF".
    """

    n: int
    url: str
    title: str
    domain: str
    publisher: str = ""
    level: int
    relevance: float
    trust: float
    trust_parts: dict[str, float] = Field(default_factory=dict)
    found_by: tuple[Found, ...] = ()
    published_at: datetime | None = None
    content_hash: str
    known: bool = False
    unused: str = ""
    shape: str = ""

    @property
    def published_by(self) -> str:
        """The publisher, "" where the domain says as much."""
        return tell_beside(self.publisher, self.domain)

    @property
    def trust_told(self) -> str:
        """Its trust and the parts of it, in percent."""
        parts = ", ".join(f"{name} {100 * part:.0f}" for name, part in self.trust_parts.items())
        return f"trust {100 * self.trust:.0f} %" + (f" ({parts})" if parts else "")

    @property
    def place(self) -> str:
        """Where the source is from: its publisher, if that says more, and its domain."""
        return ", ".join(filter(None, (self.published_by, self.domain)))


class Problem(Value):
    """What could not be done: at which stage, to what, why, and what it cost the answer."""

    stage: str
    subject: str
    reason: str
    effect: str = ""


class Usage(Value):
    """What a run has used. Money is in US dollars for model calls; None where a price is not known.
    Embeddings stand apart. Of the searches and model calls some have failed (`search_errors`,
    `model_errors`); `too_long` of the latter did not fit the model.
    """

    model_calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = 0.0
    searches: int = 0
    fetches: int = 0
    pages: int = 0
    bytes: int = 0
    cache_hits: int = 0
    embedding_calls: int = 0
    embedding_tokens: int = 0
    search_errors: int = 0
    model_errors: int = 0
    too_long: int = 0


class CoveredTopic(Value):
    """A topic of a result with its evidence; `queries` are what was searched for it. `near`: the
    evidence is only the nearest that was read.
    """

    name: str
    covered: bool
    score: float
    evidence: tuple[Evidence, ...] = ()
    gaps: tuple[str, ...] = ()
    quality: Quality | None = None
    queries: tuple[str, ...] = ()
    near: bool = False

    @property
    def state(self) -> CoverageState:
        """Answered, partly (something is quoted that may answer it), or open."""
        if self.covered:
            return "answered"
        return "partly" if self.evidence and not self.near else "open"


class Result(Value):
    """All a run hands over; `report` is the Markdown of `document`, `opinion` what an editor thinks
    of it in deep effort. `confidence` is always None: no probability is
    claimed. `unread` was found and could not be read. `left_out` are the
    ids of evidence that the report does without. `revises` is the session whose report this one
    revises, "" for a report of its own. `forecast` is what the run was foreseen to take; `usage`,
    `timings` and `iterations` say what it took.
    """

    session_id: str
    question: str
    revises: str = ""
    status: Status
    stopped_by: str = ""
    mode: Mode
    confidence: float | None = None
    topics: tuple[CoveredTopic, ...] = ()
    sources: tuple[Source, ...] = ()
    report: str
    document: Report
    opinion: str = ""
    citations: tuple[Citation, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    unread: tuple[Unread, ...] = ()
    problems: tuple[Problem, ...] = ()
    shortfalls: tuple[Shortfall, ...] = ()
    left_out: tuple[str, ...] = ()
    rounds: tuple[Round, ...] = ()
    searched: tuple[str, ...] = ()
    forecast: Forecast | None = None
    usage: Usage = Usage()
    timings: dict[str, float] = Field(default_factory=dict)
    iterations: int = 0
    session_dir: str = ""

    @property
    def state(self) -> CoverageState | None:
        """How far its topics are proven as a whole, None where it has none."""
        covered = sum(topic.covered for topic in self.topics)
        return state_as_whole(len(self.topics), covered, self.answering)

    @property
    def completeness(self) -> float:
        """How far its topics are answered, 0..1: the mean of their scores."""
        return round(sum(topic.score for topic in self.topics) / max(1, len(self.topics)), 3)

    @property
    def answering(self) -> int:
        """How much of its evidence is not of open topics, of which it is only the nearest."""
        return sum(len(topic.evidence) for topic in self.topics if topic.state != "open")

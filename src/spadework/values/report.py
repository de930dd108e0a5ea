"""The result: the report, its sources, problems, and usage."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from spadework.values.coverage import (
    Conflict,
    CoverageState,
    Quality,
    Round,
    Shortfall,
    state_as_whole,
)
from spadework.values.question import Forecast
from spadework.values.search import Evidence, Found, Unread
from spadework.values.value import Value

PUBLISHER_CHARS = 80
_SIGN = re.compile(r"[\W_]+")
#: Names that are addresses repeat the host, and would be links.
_ADDRESS = re.compile(r"://|^\S+\.[a-z]{2,}(?:/\S*)?$", re.IGNORECASE)


def tell_beside(publisher: str, domain: str) -> str:
    """Return the publisher on one line, "" if the domain says it already: not *Reuters* at
    reuters.com.
    """
    name = " ".join(publisher.split())[:PUBLISHER_CHARS].strip()
    if not name or _ADDRESS.search(name):
        return ""
    return "" if _letters(name) in _letters(domain) else name


def _letters(text: str) -> str:
    return _SIGN.sub("", text.lower())


Verdict = Literal[
    "supported", "partly", "contradicted", "unsupported", "could not check", "inference"
]
Status = Literal["completed", "time_limited", "budget_limited", "partial", "failed"]
Mode = Literal["model", "extractive"]
SectionKind = Literal["summary", "topic", "code", "conflicts", "limits"]
#: Layout of sentences.
Form = Literal["paragraph", "bullets", "steps", "table", "code", "heading"]


#: Author or judge of a sentence when no model was involved.
CODE, NOBODY = "code", "nobody"


class Sentence(Value):
    """A sentence of the report, or code, with its evidence; `inferred`: concluded from it. `maker`
    is the model that wrote it, or `CODE`.
    """

    text: str
    evidence_ids: tuple[str, ...] = ()
    inferred: bool = False
    code: bool = False
    language: str = ""
    maker: str = CODE

    def made_by(self, maker: str) -> Sentence:
        """Return a copy with this author."""
        return self.model_copy(update={"maker": maker})


class Part(Value):
    """A part of a section in one form; `takes` counts the sentences of each item, in order. A
    paragraph and code have one item, a list one per item, a table one per cell, row by row under
    its `columns`. A sub-heading only has a `text`. A `quoted` part is in pages' own words and
    emphasis, and set by code unless as a table.
    """

    form: Form
    text: str = ""
    columns: tuple[str, ...] = ()
    takes: tuple[int, ...] = ()
    quoted: bool = False

    @property
    def by_code(self) -> bool:
        """Whether code sets its sentences, as it does for sentences outside any part."""
        return self.quoted and self.form != "table"


class Section(Value):
    """A heading and its sentences; `parts` define their layout, () if code does."""

    heading: str
    kind: SectionKind = "topic"
    sentences: tuple[Sentence, ...] = ()
    parts: tuple[Part, ...] = ()

    def followed_by(self, other: Section) -> Section:
        """Return the section with another's sentences appended, layout unchanged."""
        told, parts = (*self.sentences, *other.sentences), [*_parts_of_all(self)]
        for part in _parts_of_all(other):
            if parts and parts[-1].by_code and part.by_code:
                part = part.model_copy(update={"takes": (*parts.pop().takes, *part.takes)})
            parts.append(part)
        set_ = tuple(parts) if self.parts or other.parts else ()
        return self.model_copy(update={"sentences": told, "parts": set_})

    def made_by(self, maker: str) -> Section:
        """Return a copy with this author for all sentences."""
        told = tuple(one.made_by(maker) for one in self.sentences)
        return self.model_copy(update={"sentences": told})

    def changed(self, changes: Mapping[int, Sequence[Sentence]]) -> Section:
        """Return the section with the sentences at some positions replaced or removed. Empty parts
        are dropped; empty cells of a table stay, but empty rows do not.
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
    left = len(section.sentences) - sum(count for part in section.parts for count in part.takes)
    rest = Part(form="paragraph", takes=(1,) * left, quoted=True)
    return (*section.parts, rest) if left > 0 else section.parts


def _rows(takes: Sequence[int], columns: Sequence[str]) -> list[int]:
    """Return the counts of a table's cells, without empty rows."""
    width = max(1, len(columns))
    rows = [takes[n : n + width] for n in range(0, len(takes), width)]
    return [count for row in rows if any(row) for count in row]


def _without_bare(parts: Sequence[Part]) -> tuple[Part, ...]:
    """Drop sub-headings with nothing below them."""
    forms = [*(part.form for part in parts[1:]), "heading"]
    both = zip(parts, forms[: len(parts)], strict=True)
    return tuple(part for part, after in both if {part.form, after} != {"heading"})


class Report(Value):
    """The answer as sections under the question; `language` is that of text added by code."""

    title: str
    sections: tuple[Section, ...] = ()
    language: str = "en"

    def heading_of(self, section: Section) -> str:
        """Return a section's heading; none for an only topic, which is the question itself."""
        first = section in self.sections[:1]
        again = first and section.kind == "topic" and section.heading == self.title
        return "" if again else section.heading


class Weakness(Value):
    """A weakness of a report, for the writer of its `section`; `query`, if given, is searched
    first, for `topic`. `outcome` is the result.
    """

    text: str
    section: str = ""
    topic: str = ""
    query: str = ""
    outcome: str = ""


class Review(Value):
    """An editor's review of a report, with its `sections` and ledger size at that time. `done`: the
    requests have been tried, and the report stands.
    """

    verdict: str
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[Weakness, ...] = ()
    sections: tuple[Section, ...] = ()
    entries: int = 0
    done: bool = False


class Citation(Value):
    """A sentence of the report with one piece of its evidence, and the verifier's verdict. `maker`
    wrote it and `judge` gave the verdict: a model's name, `CODE` or `NOBODY`.
    """

    sentence: str
    evidence_id: str
    verdict: Verdict
    maker: str = CODE
    judge: str = NOBODY


def models_among(names: Iterable[str]) -> list[str]:
    """Return the models among authors or judges, most sentences first."""
    counts = Counter(name for name in names if name not in (CODE, NOBODY))
    return [name for name, _ in counts.most_common()]


class Source(Value):
    """A numbered source: `[n]` in the report is `n` here. `known`: taken from the knowledge store.
    `publisher` is named by a search. `trust` is the weighted sum of `trust_parts` (authority,
    consistency, publisher, recency), all 0..1. `unused` says why no sentence cites it, else "".
    `shape` is the kind of document, such as "web page" or "PDF".
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
        """The publisher, "" if the domain says it already."""
        return tell_beside(self.publisher, self.domain)

    @property
    def trust_told(self) -> str:
        """Its trust and the parts, in percent."""
        parts = ", ".join(f"{name} {100 * part:.0f}" for name, part in self.trust_parts.items())
        return f"trust {100 * self.trust:.0f} %" + (f" ({parts})" if parts else "")

    @property
    def place(self) -> str:
        """The publisher, if informative, and the domain."""
        return ", ".join(filter(None, (self.published_by, self.domain)))


class Problem(Value):
    """A problem: its stage, subject, cause, and effect on the answer."""

    stage: str
    subject: str
    reason: str
    effect: str = ""


class Usage(Value):
    """What a run used. Money is in US dollars for model calls, None if a price is unknown.
    Embeddings are counted separately. `search_errors` and `model_errors` count failures; `too_long`
    those of the latter that did not fit the model.
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
    """A topic of a result with its evidence; `queries` are those searched for it. `near`: the
    evidence is only the closest that was read.
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
        """Answered, partly (something quoted may answer it), or open."""
        if self.covered:
            return "answered"
        return "partly" if self.evidence and not self.near else "open"


class Result(Value):
    """The result of a run; `report` is the Markdown of `document`, `opinion` an editor's review at
    deep effort. `confidence` is always None: no probability is claimed. `unread` could not be read.
    `left_out` are ids of evidence not used in the report. `revises` is the session whose report
    this one revises, else "". `forecast` is the estimate; `usage`, `timings` and `iterations` are
    the actual figures.
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
        """How well its topics are covered overall, None without topics."""
        covered = sum(topic.covered for topic in self.topics)
        return state_as_whole(len(self.topics), covered, self.evidence_count)

    @property
    def completeness(self) -> float:
        """The mean score of its topics, 0..1."""
        return round(sum(topic.score for topic in self.topics) / max(1, len(self.topics)), 3)

    @property
    def evidence_count(self) -> int:
        """The number of pieces of evidence for topics that are not open."""
        return sum(len(topic.evidence) for topic in self.topics if topic.state != "open")

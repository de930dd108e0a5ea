"""Data types for the result: the report, its sources, problems and usage."""

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
from spadework.values.search import Evidence, Found, SourceKind, Unread
from spadework.values.value import CODE, NOBODY, Value

PUBLISHER_CHARS = 80
_SIGN = re.compile(r"[\W_]+")
#: Matches a publisher's name that is a web address. Such a name is not shown, because it would
#: become a link.
_ADDRESS = re.compile(r"://|^\S+\.[a-z]{2,}(?:/\S*)?$", re.IGNORECASE)


def tell_beside(publisher: str, domain: str) -> str:
    """Return the publisher, or "" if the domain names it (*Reuters*, reuters.com)."""
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
#: Matches a picture's file name: the hash of its bytes, and an extension.
PICTURE_NAME = r"[0-9a-f]{64}\.(?:png|jpeg|gif|webp)"
Form = Literal["paragraph", "bullets", "steps", "table", "code", "heading"]


class Sentence(Value):
    """A sentence or code snippet in the report, with its evidence. `maker` is the name of the model
    that wrote it, or `CODE` if no model did. `inferred` means that it is a conclusion.
    """

    text: str
    evidence_ids: tuple[str, ...] = ()
    inferred: bool = False
    code: bool = False
    language: str = ""
    maker: str = CODE

    def made_by(self, maker: str) -> Sentence:
        """Return a copy with `maker` as its maker."""
        return self.model_copy(update={"maker": maker})


class Part(Value):
    """A part of a section with a single form, such as a list. `takes` holds the number of
    sentences in each paragraph, list item or table cell (row by row). A sub-heading has only
    `text`. `quoted` parts keep the wording of the pages.
    """

    form: Form
    text: str = ""
    columns: tuple[str, ...] = ()
    takes: tuple[int, ...] = ()
    quoted: bool = False

    @property
    def by_code(self) -> bool:
        """Whether the part is laid out by rules, not by a model."""
        return self.quoted and self.form != "table"


class Section(Value):
    """A heading and its sentences, laid out as `parts` state or, without `parts`, by rules."""

    heading: str
    kind: SectionKind = "topic"
    sentences: tuple[Sentence, ...] = ()
    parts: tuple[Part, ...] = ()

    def followed_by(self, other: Section) -> Section:
        """Return the section with the sentences of `other` appended."""
        told, parts = (*self.sentences, *other.sentences), [*_parts_of_all(self)]
        for part in _parts_of_all(other):
            if parts and parts[-1].by_code and part.by_code:
                part = part.model_copy(update={"takes": (*parts.pop().takes, *part.takes)})
            parts.append(part)
        set_ = tuple(parts) if self.parts or other.parts else ()
        return self.model_copy(update={"sentences": told, "parts": set_})

    def made_by(self, maker: str) -> Section:
        """Return a copy with `maker` as the maker of all sentences."""
        told = tuple(one.made_by(maker) for one in self.sentences)
        return self.model_copy(update={"sentences": told})

    def changed(self, changes: Mapping[int, Sequence[Sentence]]) -> Section:
        """Return the section with some sentences replaced. `changes` maps positions to new
        sentences; an empty sequence removes a sentence. Empty parts and empty table rows are
        dropped.
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
    width = max(1, len(columns))
    rows = [takes[n : n + width] for n in range(0, len(takes), width)]
    return [count for row in rows if any(row) for count in row]


def _without_bare(parts: Sequence[Part]) -> tuple[Part, ...]:
    forms = [*(part.form for part in parts[1:]), "heading"]
    both = zip(parts, forms[: len(parts)], strict=True)
    return tuple(part for part, after in both if {part.form, after} != {"heading"})


class Report(Value):
    """The report on a question. Fixed phrases, such as standard headings, are in `language`."""

    title: str
    sections: tuple[Section, ...] = ()
    language: str = "en"

    def heading_of(self, section: Section) -> str:
        """Return a section's heading, or "" if it only repeats the question."""
        first = section in self.sections[:1]
        again = first and section.kind == "topic" and section.heading == self.title
        return "" if again else section.heading


class Weakness(Value):
    """A weakness of the report, found in `section`. If information is missing, `query` is a search
    for it, and `topic` names the topic that it belongs to.
    """

    text: str
    section: str = ""
    topic: str = ""
    query: str = ""
    outcome: str = ""


class Review(Value):
    """An editor's review of a report. `sections` holds the reviewed sections, and `entries` the
    number of quotes collected before the review. `done` means that all requested changes were
    attempted.
    """

    verdict: str
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[Weakness, ...] = ()
    sections: tuple[Section, ...] = ()
    entries: int = 0
    done: bool = False


class Picture(Value):
    """A picture on a cited `page` whose caption fits a quote. `name` is "" if it is not stored."""

    url: str
    page: str
    caption: str
    evidence_id: str
    name: str = Field(default="", pattern=rf"^(?:{PICTURE_NAME})?$")


class Citation(Value):
    """A sentence, one piece of its evidence, and the verdict on whether the evidence supports it.
    `maker` wrote the sentence, and `judge` gave the verdict. Each is a model's name, `CODE`
    (rules) or `NOBODY`.
    """

    sentence: str
    evidence_id: str
    verdict: Verdict
    maker: str = CODE
    judge: str = NOBODY


def models_among(names: Iterable[str]) -> list[str]:
    """Return the models among makers or judges, most frequent first."""
    counts = Counter(name for name in names if name not in (CODE, NOBODY))
    return [name for name, _ in counts.most_common()]


class Source(Value):
    """A source with its number `n`, cited in the report as `[n]`.
    - `known`: it comes from the knowledge store.
    - `trust`: the weighted sum of `trust_parts`, all 0..1.
    - `unused`: why the report does not cite it, or "" if it does.
    - `shape`: the document type, such as "PDF".
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
    kind: SourceKind = ""

    @property
    def published_by(self) -> str:
        """The publisher, or "" if the domain names it."""
        return tell_beside(self.publisher, self.domain)

    @property
    def trust_told(self) -> str:
        """The trust and its parts, in percent."""
        parts = ", ".join(f"{name} {100 * part:.0f}" for name, part in self.trust_parts.items())
        return f"trust {100 * self.trust:.0f} %" + (f" ({parts})" if parts else "")

    @property
    def place(self) -> str:
        """The domain, preceded by the publisher unless the domain names it."""
        return ", ".join(filter(None, (self.published_by, self.domain)))


class Problem(Value):
    """A problem in a run, with its cause and effect on the answer."""

    stage: str
    subject: str
    reason: str
    effect: str = ""


class Usage(Value):
    """The usage of a run. `money` is the cost of model calls in US dollars, or None if a price is
    unknown. `too_long` counts requests too long for the model.
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
    """A topic in a result. `near` means that its evidence is only the closest match found."""

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
        """The topic's state: answered, partly (a quote may answer it), or open."""
        if self.covered:
            return "answered"
        return "partly" if self.evidence and not self.near else "open"


class Result(Value):
    """The result of a run.
    - `report`: the Markdown of `document`; `opinion`: an editor's review.
    - `confidence`: always None, because no probability is claimed.
    - `left_out`: the ids of evidence not in the report.
    - `revises`: the session whose report this one revises.
    - `forecast`: the estimate; `usage`, `timings` and `iterations`: actual values.
    """

    session_id: str
    question: str
    revises: str = ""
    status: Status
    stopped_by: str = ""
    mode: Mode
    confidence: float | None = None
    # asyncio.run formats the repr of its result. Large fields are left out, because they would make
    # this slow.
    topics: tuple[CoveredTopic, ...] = Field(default=(), repr=False)
    sources: tuple[Source, ...] = Field(default=(), repr=False)
    report: str = Field(repr=False)
    document: Report = Field(repr=False)
    opinion: str = ""
    citations: tuple[Citation, ...] = Field(default=(), repr=False)
    pictures: tuple[Picture, ...] = Field(default=(), repr=False)
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
        """The coverage of all topics together, or None if there are no topics."""
        covered = sum(topic.covered for topic in self.topics)
        return state_as_whole(len(self.topics), covered, self.evidence_count)

    @property
    def completeness(self) -> float:
        """The mean score of the topics, 0..1."""
        return round(sum(topic.score for topic in self.topics) / max(1, len(self.topics)), 3)

    @property
    def evidence_count(self) -> int:
        """The number of pieces of evidence for topics that are not open."""
        return sum(len(topic.evidence) for topic in self.topics if topic.state != "open")

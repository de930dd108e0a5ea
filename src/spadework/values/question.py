"""The question and how it is split: plan, tasks, and their estimate."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from spadework.codes import COUNTRY, LANGUAGE
from spadework.values.value import Value

QueryKind = Literal["original", "paraphrase", "broad", "specific", "gap"]
QuestionType = Literal[
    "what", "howto", "compare", "why", "fact", "latest", "list", "evaluate", "general"
]
Complexity = Literal["simple", "moderate", "complex"]
Freshness = Literal["any", "recent", "now"]
#: How a page is parsed for a topic.
Need = Literal["text", "count", "table"]


#: Expected answer of a topic in a form that code can check; "open" is anything else.
Expected = Literal[
    "number", "date", "name", "definition", "steps", "code", "items", "rows", "both sides", "open"
]


class Question(Value):
    """The question, with its attachments and instructions for the answer. `earlier` are the
    questions it follows up, oldest first, and `answers` their answers ("" if unknown). `asked_on`
    is the date the run began (ISO). `wishes` are instructions about the form of the answer, given
    apart from the question. `keeps` are the headings of an existing report to which only missing
    parts are added.
    """

    text: str
    earlier: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()
    asked_on: str = ""
    attachments: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()
    language: str = ""
    wishes: str = ""
    keeps: tuple[str, ...] = ()


#: Maximum characters of a query: providers refuse from 400 on, including sites.
MOST_QUERY_CHARS = 300


def _short(text: str) -> str:
    if len(text) <= MOST_QUERY_CHARS:
        return text
    cut = text[:MOST_QUERY_CHARS]
    return cut.rsplit(None, 1)[0] if " " in cut and not text[MOST_QUERY_CHARS].isspace() else cut


#: Filters of a search, other than domains, which every provider supports.
Wish = Literal["country", "language", "news", "time"]


class Query(Value):
    """One search query with its filters: freshness, domains to include or exclude, `country` (ISO
    3166, two letters) and `language` of the pages, publication dates `since` and `until`
    (inclusive, take precedence over `freshness`), or only news. "", None and False mean no filter.

    `asked_in` is the language of a non-English question: web engines search it first, but nothing
    is filtered. `results` is the number of new pages wanted, `seconds` the time limit; 0 means as
    in the settings.
    """

    text: Annotated[str, AfterValidator(_short)]
    kind: QueryKind = "original"
    freshness: Freshness = "any"
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    country: str = Field(default="", pattern=COUNTRY)
    language: str = Field(default="", pattern=LANGUAGE)
    asked_in: str = ""
    news: bool = False
    since: date | None = None
    until: date | None = None
    results: int = Field(default=0, ge=0, le=100)
    seconds: float = Field(default=0.0, ge=0)


class Topic(Value):
    """One thing to cover: `expects` would answer it, evidence should show `must_cover` words."""

    name: str
    question: str
    expects: Expected = "open"
    must_cover: tuple[str, ...] = ()
    queries: tuple[Query, ...] = ()


class Plan(Value):
    """The topics of a question and its type. `subjects` are the things it is about, `title` is the
    report's heading if the question is long, else "". `language` is the report's; `wishes` are
    instructions about its form, length and readers.
    """

    question: str
    title: str = ""
    question_type: QuestionType = "general"
    complexity: Complexity = "moderate"
    freshness: Freshness = "any"
    language: str = "en"
    subjects: tuple[str, ...] = ()
    wishes: tuple[str, ...] = ()
    topics: tuple[Topic, ...] = Field(min_length=1)


class Span(Value):
    """A range from `low` to `high`; half of the runs are below the `median` (None: unknown)."""

    low: float = 0.0
    high: float = 0.0
    median: float | None = None


class Forecast(Value):
    """What a run will take, as ranges; `workers` are the topics searched concurrently, `writing`
    the tokens for writing and checking. Money is in US dollars, None if a price is unknown.

    Based on `runs` earlier runs of the same `kind` on this `machine`, of which nine of ten fall
    within the ranges; on constants alone if `runs` is 0.
    """

    kind: str = ""
    machine: str = ""
    runs: int = 0
    workers: int
    rounds: Span
    searches: Span
    pages: Span
    calls: Span
    tokens: Span
    writing: Span = Span()
    seconds: Span
    money: Span | None

    @model_validator(mode="before")
    @classmethod
    def _without_reckoned(cls, told: dict[str, Any]) -> dict[str, Any]:
        """Drop a field of earlier versions."""
        return {name: value for name, value in told.items() if name != "reckoned"}


class Task(Value):
    """A worker's task: a topic, this round's queries (at first all, then only those for gaps), and
    how many pages to read.

    `broad` is part of a survey, which needs many pages. `own` reserves this many pages that no
    other worker reads; `together` limits the distinct pages of all workers in the round, None for
    no limit. `again` are queries of an earlier round whose hits may include unread pages.
    """

    topic: Topic
    queries: tuple[Query, ...]
    round: int = 1
    pages: int = 10
    broad: bool = False
    own: bool = False
    together: int | None = None
    again: tuple[Query, ...] = ()

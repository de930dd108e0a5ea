"""Data types for the question, its plan and tasks, and the run's forecast."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from spadework.values.value import CODE, Value

QueryKind = Literal["original", "paraphrase", "broad", "specific", "gap"]
QuestionType = Literal[
    "what", "howto", "compare", "why", "fact", "latest", "list", "evaluate", "general"
]
Complexity = Literal["simple", "moderate", "complex"]
Freshness = Literal["any", "recent", "now"]
Need = Literal["text", "count", "table"]

#: The expected type of an answer. Unless it is "open", the type can be checked without a model.
Expected = Literal[
    "number", "date", "name", "definition", "steps", "code", "items", "rows", "both sides", "open"
]
#: Patterns for country and language codes. An empty code means that none was given.
COUNTRY, LANGUAGE = r"^([a-z]{2})?$", r"^([a-z]{2,12}(-[a-z]{2,12})*)?$"


class Question(Value):
    """The question, with its attachments and instructions.
    - `earlier`: previous questions, oldest first; `answers`: their answers, "" if unknown.
    - `asked_on`: the ISO date of the run.
    - `wishes`: instructions on the report's form.
    - `keeps`: the headings of an earlier report, which the run extends instead of rewriting.
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


#: Maximum characters of a query. Providers accept about 400 characters, including site filters.
MOST_QUERY_CHARS = 300


def _short(text: str) -> str:
    if len(text) <= MOST_QUERY_CHARS:
        return text
    cut = text[:MOST_QUERY_CHARS]
    return cut.rsplit(None, 1)[0] if " " in cut and not text[MOST_QUERY_CHARS].isspace() else cut


#: Search filters that some providers ignore.
Wish = Literal["country", "language", "news", "time"]


class Query(Value):
    """A query and its search filters; "", None and False mean no filter.
    - `country`: an ISO 3166 code.
    - `since`, `until`: inclusive dates, which override `freshness`.
    - `asked_in`: the question's language, which is preferred but not a filter.
    - `results`, `seconds`: the number of results and the time limit, or 0 to use the settings.
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
    """A topic with the kind of answer it `expects` and the words or aspects it `must_cover`."""

    name: str
    question: str
    expects: Expected = "open"
    must_cover: tuple[str, ...] = ()
    queries: tuple[Query, ...] = ()


class Plan(Value):
    """The topics and type of a question, and the `subjects` it is about.
    - `title`: heads the report if the question is long.
    - `language`: the language of the report.
    - `wishes`: instructions on the report's form.
    - `maker`: the name of the model that made the plan, or `CODE` if no model did.
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
    maker: str = CODE


class Span(Value):
    """A range of expected values. `median` is the median of earlier runs, or None without any."""

    low: float = 0.0
    high: float = 0.0
    median: float | None = None


class Forecast(Value):
    """The expected usage of a run.
    - `workers`: topics searched at once.
    - `writing`: tokens for writing and checking, always a rough estimate.
    - `money`: US dollars, or None if a price is unknown.
    - `runs`: the number of earlier runs of the same `kind` and `machine`. Nine in ten of them lie
      within each range except `writing`. If 0, all ranges are rough estimates.
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


class Task(Value):
    """A worker's task: a topic, its queries and the number of pages to read.
    - `broad`: the task surveys many pages, for example because the question asks for a list.
    - `own`: no other worker reads its pages.
    - `together`: the number of pages that all workers in the round may read in total.
    - `again`: earlier queries, some of whose hits may still be unread.
    """

    topic: Topic
    queries: tuple[Query, ...]
    round: int = 1
    pages: int = 10
    broad: bool = False
    own: bool = False
    together: int | None = None
    again: tuple[Query, ...] = ()

"""What is asked, and how it is split: question, plan, tasks, and what they will take."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from spadework.codes import COUNTRY, LANGUAGE
from spadework.values.value import Value

QueryKind = Literal["original", "paraphrase", "broad", "specific", "gap"]
QuestionType = Literal[
    "what", "howto", "compare", "why", "fact", "latest", "list", "evaluate", "general"
]
Complexity = Literal["simple", "moderate", "complex"]
Freshness = Literal["any", "recent", "now"]
#: How a page is taken apart for a topic.
Need = Literal["text", "count", "table"]


#: What would answer a topic, in a form that code can check; "open" is all that it cannot.
Expected = Literal[
    "number", "date", "name", "definition", "steps", "code", "items", "rows", "both sides", "open"
]


class Question(Value):
    """What was asked, with the files given along and the wishes for the answer. `earlier` are the
    questions it follows up, oldest first, `answers` what was answered to them ("" where that is not
    known). `asked_on` is the day on which the run began (ISO). `wishes` are for the form of the
    answer, as somebody beside the question has put them. `keeps` are the headings of a report that
    stays, where only what it lacks is asked for.
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


#: Characters of a query at most: providers refuse from 400 on, sites and all.
MOST_QUERY_CHARS = 300


def _short(text: str) -> str:
    """Return the text as far as a query goes, cut between words."""
    if len(text) <= MOST_QUERY_CHARS:
        return text
    cut = text[:MOST_QUERY_CHARS]
    return cut.rsplit(None, 1)[0] if " " in cut and not text[MOST_QUERY_CHARS].isspace() else cut


#: What a search may wish of its results beside the domains, which everybody can keep to.
Wish = Literal["country", "language", "news", "time"]


class Query(Value):
    """One phrasing of what is looked for, and what is wished of the results: how recent the pages
    should be, the domains to keep to or to keep away from, the `country` (two letters of ISO 3166)
    and the `language` they are from, the days `since` and `until` which they are published (both
    counted in, before `freshness`), or news alone. What is "", None or False is not wished.

    `asked_in` is the language of the question where that is not English: engines of the web look
    there first, and nothing is left out for it. `results` is how many new pages are wanted of it,
    `seconds` how long it may take, 0 for as the settings say.
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
    """The topics of a question and what kind of question it is. `subjects` are the things it is
    about, `title` is the heading of the report where the question is long, else "". `language` is
    that of the report; `wishes` are what is asked of its form, length and readers.
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
    """From `low` to `high`, half of the runs below the `median` (None: not known)."""

    low: float = 0.0
    high: float = 0.0
    median: float | None = None


class Forecast(Value):
    """What a run will take, as ranges; `workers` is the topics searched at once, `writing` the
    tokens that writing and checking take of all. Money is in US dollars, None where a price is
    unknown.

    It rests on `runs` earlier ones of the same `kind` on this `machine`, and nine of ten end within
    its ranges; where `runs` is 0, on constants alone. `reckoned` is what constants say, by the
    names of the ranges.
    """

    kind: str = ""
    machine: str = ""
    runs: int = 0
    reckoned: dict[str, float] = Field(default_factory=dict)
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
    """What one worker is sent to find: a topic, the queries of this round (all first, then only the
    gaps'), and how many pages to read.

    `broad` is a part of a survey, which lives of many pages. `own` asks for that many pages which
    no other worker reads; `together` bounds the pages of all workers of the round, those that
    several read counted once, None where that is not needed. `again` are queries of an earlier
    round, whose hits may hold pages that are still unread.
    """

    topic: Topic
    queries: tuple[Query, ...]
    round: int = 1
    pages: int = 10
    broad: bool = False
    own: bool = False
    together: int | None = None
    again: tuple[Query, ...] = ()

"""Hits, pages, passages, and their evidence."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from spadework.values.question import QueryKind
from spadework.values.value import Value

EvidenceKind = Literal["text", "item", "code", "row", "columns", "cells"]
#: Decision on a hit: read it, keep it as a replacement, or leave it.
Fate = Literal["chosen", "reserve", "left"]


class Found(Value):
    """Where a hit was found: query, provider, rank (from 1)."""

    query: str
    kind: QueryKind
    provider: str
    rank: int


class Hit(Value):
    """A hit. `publisher` is named by the provider, such as a newspaper or journal. `text`
    is the page itself if the provider includes it: then nothing is fetched, and `url` may be "".
    `relevance` is 0..1 (S5); `rrf` is set by fusion; `found_by` lists every list with it.
    """

    url: str = ""
    title: str = ""
    snippet: str = ""
    text: str = ""
    position: int = 1
    provider: str = ""
    query: str = ""
    publisher: str = ""
    published_at: datetime | None = None
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()


class Lead(Value):
    """A hit; the `parts` of its relevance, each 0..1, are position, title, snippet
    (S5).
    """

    url: str
    title: str = ""
    snippet: str = ""
    position: int = 1
    published_at: datetime | None = None
    relevance: float = 0.0
    parts: dict[str, float] = Field(default_factory=dict)


class Choice(Value):
    """The decision on a hit in a round, with the reason; `rrf` is its fused score over
    `found_by`.
    """

    url: str
    title: str = ""
    fate: Fate
    why: str = ""
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()


class Attempt(Value):
    """One attempt to fetch a page: its `level` (None: cancelled before it was known), `status` of
    the response (0: none), `seconds` and `bytes`. `reason` says why it failed, "" if it did not.
    `cached`: a stored copy was used and nothing was sent.
    """

    level: int | None = None
    status: int = 0
    seconds: float = 0.0
    bytes: int = 0
    reason: str = ""
    cached: bool = False


class Tried(Value):
    """The `attempts` to fetch a page, empty for a local document or one in the knowledge store."""

    attempts: tuple[Attempt, ...] = ()

    @property
    def fetch_seconds(self) -> float:
        """The seconds of all attempts."""
        return round(sum(attempt.seconds for attempt in self.attempts), 3)

    @model_validator(mode="before")
    @classmethod
    def _with_attempts(cls, data: Any) -> Any:
        # Earlier versions stored only the seconds of the attempts.
        if not isinstance(data, dict) or "fetching" not in data:
            return data
        data = dict(data)
        seconds = data.pop("fetching")
        if seconds and "attempts" not in data:
            told = {name: data[name] for name in ("level", "status", "bytes") if name in data}
            data["attempts"] = ({**told, "seconds": seconds},)
        return data


class Unread(Value):
    """A hit for a `topic` that could not be read, for a `reason`; `score` is its relevance,
    0..1.
    """

    # Resumed runs may have stored it as a hit.
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    topic: str = ""
    url: str
    title: str = ""
    snippet: str = ""
    score: float = Field(default=0.0, validation_alias=AliasChoices("score", "relevance"))
    reason: str = ""


class Page(Tried):
    """A page that was read. Its cleaned Markdown, of `chars` characters, is in the page store under
    `content_hash`.

    `author` is stated by the page, `publisher` by a search; `kind` is the kind of page or file.
    `level` is how it was fetched: 0 plain HTTP, 1 browser-like headers, 2 a browser (3 in sessions
    of earlier versions), -1 a local document. `stale`: a cached copy, since its server could not be
    reached. `linked` is its PageRank among the pages read, 0..1. `known`: taken from the knowledge
    store. `bytes` is the size of the body as sent, `cleaning` the seconds of extraction.
    """

    url: str
    title: str = ""
    author: str = ""
    publisher: str = ""
    language: str = ""
    kind: str = ""
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
    bytes: int = 0
    cleaning: float = 0.0
    origin: str = ""
    linked: float = 0.0
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()


class Passage(Value):
    """A passage `start:end` of a page, split at headings and paragraphs; `score` ranks it."""

    content_hash: str
    start: int
    end: int
    score: float
    topic: str


class Evidence(Value):
    """A numbered ledger entry: `quote` is verbatim `start:end` of the page `content_hash`.

    `title` and `author` are its page's, `heading` is its path of headings, `before` and `after` are
    the adjacent sentences. `claim` restates the quote as a self-contained sentence, by the model
    that read it; "" without one.

    `origin` groups near-copies, so that twelve copies count once. `language` is that of code, as
    named by its page. A "row" of a table comes with the names of its "columns", a separate entry at
    `columns` of the same page. "cells" are a row whose first cell names the others, from a table
    without header or with two columns, whose first row at `columns` is a header only if rows
    follow. An "item" is number `step` (from 1) of the numbered list that starts at `steps` of the
    same page.
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
    title: str = ""
    author: str = ""
    heading: str = ""
    before: str = ""
    after: str = ""
    claim: str = ""
    kind: EvidenceKind = "text"
    language: str = ""
    columns: int | None = None
    step: int | None = None
    steps: int | None = None

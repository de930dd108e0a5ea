"""Data types for hits, pages, passages and evidence."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import AliasChoices, ConfigDict, Field

from spadework.values.question import QueryKind
from spadework.values.value import Value

EvidenceKind = Literal["text", "item", "code", "row", "columns", "cells"]
#: What happens to a hit: it is read, kept as a replacement, or left unread.
Fate = Literal["chosen", "reserve", "left"]
#: The type of a source: "official" means a government's source, and "own" means the user's own
#: source.
StatedKind = Literal["paper", "news", "official", "vendor", "forum", "own"]
SourceKind = Literal["", StatedKind]


class Found(Value):
    """Where a hit was found: query, provider and rank (from 1)."""

    query: str
    kind: QueryKind
    provider: str
    rank: int


class Hit(Value):
    """A hit returned by a search.
    - `text`: the page itself if the provider sends it, so that it need not be fetched.
    - `publisher` (a newspaper, journal or site), `kind`: as the provider states them.
    - `relevance`: 0..1; `rrf`: the score from fusing the rankings of several searches.
    - `found_by`: every search that found it.
    """

    url: str = ""
    title: str = ""
    snippet: str = ""
    text: str = ""
    position: int = 1
    provider: str = ""
    query: str = ""
    publisher: str = ""
    kind: SourceKind = ""
    published_at: datetime | None = None
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()


class Lead(Value):
    """A hit with the `parts` that make up its relevance, each from 0 to 1."""

    url: str
    title: str = ""
    snippet: str = ""
    position: int = 1
    published_at: datetime | None = None
    relevance: float = 0.0
    parts: dict[str, float] = Field(default_factory=dict)


class Choice(Value):
    """The decision about a hit (`fate`) and its reason (`why`). `rrf` is the fused rank score."""

    url: str
    title: str = ""
    fate: Fate
    why: str = ""
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()


class Attempt(Value):
    """An attempt to fetch a page. `level` (as in `Page`) is None if the attempt was cancelled
    early. `status` is 0 if there was no response. `cached` means that no request was sent.
    """

    level: int | None = None
    status: int = 0
    seconds: float = 0.0
    bytes: int = 0
    reason: str = ""
    cached: bool = False


class Tried(Value):
    """The attempts to fetch a page; () if no attempt was made."""

    attempts: tuple[Attempt, ...] = ()

    @property
    def fetch_seconds(self) -> float:
        """The total duration of all attempts in seconds."""
        return round(sum(attempt.seconds for attempt in self.attempts), 3)


class Unread(Value):
    """An unread hit with its relevance (0..1) as `score`. `late` means that time ran out."""

    # A resumed run may find a stored `Hit` here instead, which has other fields.
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    topic: str = ""
    url: str
    title: str = ""
    snippet: str = ""
    score: float = Field(default=0.0, validation_alias=AliasChoices("score", "relevance"))
    reason: str = ""
    late: bool = False


class Page(Tried):
    """A page that was read. Its Markdown is in the page store under `content_hash`.
    - `author`: as the page states it; `publisher`: as a search provider states it.
    - `level`: 0 for plain HTTP, 1 for browser headers, 2 for a browser, -1 for a local file.
    - `stale`: an old copy of an unreachable page; `known`: from the knowledge store.
    - `linked`: its PageRank among the pages read, 0..1.
    - `bytes`: the decompressed size; `cleaning`: the seconds of extraction.
    """

    url: str
    title: str = ""
    author: str = ""
    publisher: str = ""
    language: str = ""
    kind: SourceKind = ""
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
    """A passage `start:end` of a page, ranked by `score`."""

    content_hash: str
    start: int
    end: int
    score: float
    topic: str


class Evidence(Value):
    """A numbered entry of the ledger, the collected evidence.
    - `quote`: the verbatim text `start:end` of the page `content_hash`.
    - `heading`: the headings above it; `before`, `after`: the adjacent sentences.
    - `claim`: a model's self-contained rewording of the quote, if any.
    - `origin`: the same for all near-copies of a page, which are counted once.
    - `language`: the programming language of code.
    - `kind`: "row" is a table row with column names, "cells" is a row without them, whose first
      cell labels the others.
    - `columns`: the offset of a row's column names in the page.
    - `step`, `steps`: an item's number in its list (from 1), and the list's offset.
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

    @property
    def byline(self) -> str:
        """The author, or the first of three or more with "et al."."""
        name, *others = self.author.split(" and ")
        return f"{name} et al." if len(others) > 1 else self.author

"""What is found and read: hits, pages, passages, and the evidence in them."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import AliasChoices, ConfigDict, Field, model_validator

from spadework.values.asking import QueryKind
from spadework.values.value import Value

EvidenceKind = Literal["text", "item", "code", "row", "columns", "cells"]
#: What becomes of a hit: it is read, waits to take the place of another, or is left.
Fate = Literal["chosen", "reserve", "left"]


class Found(Value):
    """Where a hit was found: by which query, at which provider, at which rank (from 1)."""

    query: str
    kind: QueryKind
    provider: str
    rank: int


class Hit(Value):
    """A search result. `publisher` is who the provider says published it, such as a newspaper or
    a journal. `text` is the page itself, where a provider has given it along: then nothing is
    fetched, and `url` may be "". `relevance` is 0..1 (S5); `rrf` is set by fusion; `found_by` names
    every list it stood in.
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
    """A search result; `parts` of its relevance, each 0..1, are position, title, snippet (S5)."""

    url: str
    title: str = ""
    snippet: str = ""
    position: int = 1
    published_at: datetime | None = None
    relevance: float = 0.0
    parts: dict[str, float] = Field(default_factory=dict)


class Choice(Value):
    """What was decided of a hit in a round, and why; `rrf` is its fused score over `found_by`."""

    url: str
    title: str = ""
    fate: Fate
    why: str = ""
    relevance: float = 0.0
    rrf: float = 0.0
    found_by: tuple[Found, ...] = ()


class Attempt(Value):
    """One try to have a page: at which `level` (None: it was given up before that was known), the
    `status` of the answer (0: there was none), the `seconds` it took and the `bytes` that came.
    `reason` says why it did not give the page, "" where it did. `cached`: a kept copy was taken,
    and nothing was sent for it.
    """

    level: int | None = None
    status: int = 0
    seconds: float = 0.0
    bytes: int = 0
    reason: str = ""
    cached: bool = False


class Tried(Value):
    """What tells of a page that was gone after, in these `attempts`: none for a local document, or
    one that the knowledge store has.
    """

    attempts: tuple[Attempt, ...] = ()

    @property
    def fetching(self) -> float:
        """The seconds of all attempts."""
        return round(sum(attempt.seconds for attempt in self.attempts), 3)

    @model_validator(mode="before")
    @classmethod
    def _with_attempts(cls, data: Any) -> Any:
        # Earlier versions kept the seconds of the attempts alone.
        if not isinstance(data, dict) or "fetching" not in data:
            return data
        data = dict(data)
        seconds = data.pop("fetching")
        if seconds and "attempts" not in data:
            told = {name: data[name] for name in ("level", "status", "bytes") if name in data}
            data["attempts"] = ({**told, "seconds": seconds},)
        return data


class Unread(Value):
    """What was found for a `topic` and could not be read, for a `reason`; `score` is its relevance,
    0..1.
    """

    # A run that is taken up may have kept it as a hit.
    model_config = ConfigDict(extra="ignore", populate_by_name=True)

    topic: str = ""
    url: str
    title: str = ""
    snippet: str = ""
    score: float = Field(default=0.0, validation_alias=AliasChoices("score", "relevance"))
    reason: str = ""


class Page(Tried):
    """A page that was read. Its cleaned Markdown is in the page store under `content_hash`; `chars`
    is its length.

    `author` is who the page says wrote it, `publisher` who a search says published it, `language`
    the language it is in, `kind` what kind of page or file it is. `level` is how it was had: 0
    plain HTTP, 1 browser-like headers, 2 a browser (3 in sessions of earlier versions); -1 a local
    document. `stale`: its server could not be reached, and this is a copy from before. `linked` is
    its PageRank among the pages read, 0..1. `known`: an earlier run has read it, and it was taken
    from the knowledge store. `bytes` are those of the body as it came, which took so many seconds
    of `cleaning` to be taken apart.
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
    """A stretch `start:end` of a page, cut at headings and paragraphs; `score` ranks it."""

    content_hash: str
    start: int
    end: int
    score: float
    topic: str


class Evidence(Value):
    """A numbered entry of the ledger: `quote` stands verbatim at `start:end` of the page
    `content_hash`.

    `title` and `author` are those of its page, `heading` is the path of headings above it, `before`
    and `after` the sentence before it and the one after it. `claim` says in one sentence that
    stands alone what the quote says, in the words of the model that read it; "" without one.

    `origin` groups near-copies of one text, so that twelve copies count once. `language` is that of
    code, as its page names it. A "row" of a table is told with the names of its "columns", an entry
    of their own that begins at `columns` of the same page; "cells" are a row whose first cell names
    the others, of a table without names or of one with two columns, whose first row at `columns`
    names them only above other rows. An "item" of a numbered list is its `step`, from 1 on, of
    those of which the first begins at `steps` of the same page.
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

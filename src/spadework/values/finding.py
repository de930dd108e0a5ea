"""What is found and read: hits, pages, passages, and the evidence in them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import Field

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
    a journal. `relevance` is 0..1 (S5); `rrf` is set by fusion; `found_by` names every list it
    stood in.
    """

    url: str
    title: str = ""
    snippet: str = ""
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


class Page(Value):
    """A page that was read. Its cleaned Markdown is in the page store under `content_hash`; `chars`
    is its length.

    `author` is who the page says wrote it, `publisher` who a search says published it, `language`
    the language it is in, `kind` what kind of page or file it is. `level` is how it was had: 0
    plain HTTP, 1 browser-like headers, 2 a browser (3 in sessions of earlier versions); -1 a local
    document. `stale`: its server could not be reached, and this is a copy from before. `linked` is
    its PageRank among the pages read, 0..1. `known`: an earlier run has read it, and it was taken
    from the knowledge store. `bytes` are those of the body as it came, which took so many seconds
    of `fetching`, and of `cleaning` to be taken apart.
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
    fetching: float = 0.0
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

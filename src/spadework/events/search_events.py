"""Events of searching and reading, with the decisions on every hit and page."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from spadework.events.timed import Timed
from spadework.values import Choice, Lead, QueryKind, Tried


class Searched(Timed):
    """A provider answered a query with `found`, best first; `round` 0: before the plan."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "query", "provider")
    type: Literal["searched"] = "searched"
    topic: str
    query: str
    provider: str
    hits: int
    round: int = 0
    kind: QueryKind = "original"
    found: tuple[Lead, ...] = ()


class Unanswered(Timed):
    """A provider did not answer a query, for a reason."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "query", "provider")
    thing: ClassVar[str] = "searched"
    type: Literal["unanswered"] = "unanswered"
    topic: str
    query: str
    provider: str
    round: int = 0
    kind: QueryKind = "original"
    reason: str

    @property
    def failed(self) -> bool:
        """Whether a retry may succeed."""
        return True


class Checked(Timed):
    """A topic's hits were judged before reading; `against` maps rejected URLs to reasons."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round")
    type: Literal["checked"] = "checked"
    topic: str
    hits: int
    round: int = 0
    against: dict[str, str] = Field(default_factory=dict)


class Selected(Timed):
    """The decisions on a topic's hits in a round, best first. `threshold` is the minimum relevance;
    `note` says which rule was relaxed, or is "". `again`: pages read led to another search in the
    same round.
    """

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "again")
    type: Literal["selected"] = "selected"
    topic: str
    round: int
    threshold: float
    again: bool = False
    note: str = ""
    hits: tuple[Choice, ...] = ()


class Reading(Timed):
    """A page is being fetched."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "url")
    type: Literal["reading"] = "reading"
    topic: str
    url: str
    title: str = ""
    round: int = 0


class Read(Timed, Tried):
    """A page was read, or could not be (`reason`). `known`: taken from the knowledge store.

    `level`, `status`, `bytes` (of the body as sent) and `cleaned_by` are as in `Page`; `cleaning`
    is the part of its `seconds` spent on extraction. For an unread page they are those of the last
    of the `attempts`.
    """

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "url")
    type: Literal["read"] = "read"
    topic: str
    url: str
    title: str = ""
    chars: int = 0
    reason: str = ""
    known: bool = False
    round: int = 0
    level: int | None = None
    status: int = 0
    media_type: str = ""
    bytes: int = 0
    content_hash: str = ""
    cleaned_by: str = ""
    cleaning: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether a retry may succeed."""
        return bool(self.reason)


class Cleaned(Timed):
    """A model cleaned a noisy page: `content_hash` and `before` (characters) describe its input,
    `after_hash` and `chars` the result. If the text is unchanged, `reason` names a failure, if any.
    """

    about: ClassVar[tuple[str, ...]] = ("content_hash",)
    type: Literal["cleaned"] = "cleaned"
    url: str
    content_hash: str
    after_hash: str
    before: int
    chars: int
    reason: str = ""

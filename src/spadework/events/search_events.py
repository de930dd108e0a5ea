"""What is told of searching and reading, with what was decided of every hit and page."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from spadework.events.timed import Timed
from spadework.values import Choice, Lead, QueryKind, Tried


class Searched(Timed):
    """A query was answered by a provider with `found`, best first; `round` 0: before the plan."""

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
    """One query was not answered by one provider, for a reason."""

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
        """It may be answered when it is asked again."""
        return True


class Checked(Timed):
    """The hits of a topic were judged before reading; `against`: those not worth it (URL → why)."""

    about: ClassVar[tuple[str, ...]] = ("topic", "round")
    type: Literal["checked"] = "checked"
    topic: str
    hits: int
    round: int = 0
    against: dict[str, str] = Field(default_factory=dict)


class Selected(Timed):
    """What becomes of the hits of a topic in a round, best first. `threshold` is the least
    relevance of one that is read; `note` says in a sentence what was bent, or is "". `again`: what
    was read has led to one more search in the same round.
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
    """A page was read, or could not be (`reason`). `known`: it was taken from the knowledge
    store.

    `level`, `status`, `bytes` (of the body as it came) and `cleaned_by` are as in `Page`; of its
    `seconds` it took `cleaning` to be taken apart. Where it was not read they are those of the last
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
        """It may be read when it is asked for again."""
        return bool(self.reason)


class Cleaned(Timed):
    """A model was shown a page that was dirty: `content_hash` and `before` (characters) are of the
    text it was shown, `after_hash` and `chars` of what is left. Where the text stays as it was,
    `reason` says why if something failed.
    """

    about: ClassVar[tuple[str, ...]] = ("content_hash",)
    type: Literal["cleaned"] = "cleaned"
    url: str
    content_hash: str
    after_hash: str
    before: int
    chars: int
    reason: str = ""

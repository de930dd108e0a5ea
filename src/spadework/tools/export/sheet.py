"""Define a report's layout, which all formats share."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from typing import NamedTuple

from spadework.tools.export.pictures import Header
from spadework.tools.export.section_blocks import INFERRED
from spadework.tools.text.language import ENGLISH, Phrases
from spadework.tools.text.markdown import Strength
from spadework.values import CoverageState, Form, SectionKind


class Run(NamedTuple):
    """Text in one style, without markup."""

    text: str
    code: bool = False
    strength: Strength | None = None


class Marker(NamedTuple):
    """A mark after a sentence, which opens the card with the index `card`.

    `[n]` opens quotes from one source. The sign of a conclusion (`n` is 0) opens its premises.
    """

    n: int
    card: int
    label: str = ""

    @property
    def sign(self) -> str:
        """The text of the mark."""
        return f"[{self.n}]" if self.n else INFERRED


@dataclass(frozen=True)
class Said:
    """A sentence or a code block, with its markers."""

    runs: tuple[Run, ...]
    markers: tuple[Marker, ...] = ()
    code: bool = False
    language: str = ""


Item = tuple[Said, ...]


@dataclass(frozen=True)
class Block:
    """A paragraph or code block (with one item), a list, a table, or a sub-heading."""

    kind: Form
    items: tuple[Item, ...] = ()
    heading: tuple[Run, ...] = ()
    columns: tuple[tuple[Run, ...], ...] = ()
    rows: tuple[tuple[Item, ...], ...] = ()


@dataclass(frozen=True)
class Figure:
    """A stored picture, its caption with the mark of its quote, and its page's host."""

    name: str
    data: bytes
    header: Header
    caption: Said
    host: str

    @property
    def uri(self) -> str:
        """The picture as a data URI."""
        return f"data:image/{self.header.format};base64,{b64encode(self.data).decode()}"


@dataclass(frozen=True)
class Chapter:
    """A section of the report."""

    heading: tuple[Run, ...]
    kind: SectionKind
    blocks: tuple[Block, ...]
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True)
class Quoted:
    """A quote with its headings and surrounding text. `link` is "" if it is not on the web."""

    id: str
    runs: tuple[Run, ...]
    code: bool
    link: str
    date: str
    heading: tuple[Run, ...] = ()
    before: tuple[Run, ...] = ()
    after: tuple[Run, ...] = ()


@dataclass(frozen=True)
class Reference:
    """A cited source. `link` is "" if browsers cannot open it; `url` is for display only."""

    n: int
    title: tuple[Run, ...]
    host: str
    url: str
    link: str
    date: str
    quotes: tuple[Quoted, ...]
    author: str = ""


@dataclass(frozen=True)
class Opened:
    """Quotes of one source."""

    source: Reference
    quotes: tuple[Quoted, ...]


@dataclass(frozen=True)
class Card:
    """What a marker opens: quotes of one source, or the premises of a conclusion."""

    opened: tuple[Opened, ...]
    concluded: bool = False


@dataclass(frozen=True)
class Proven:
    """A topic's coverage. `chapter` is the index of its chapter, or None."""

    name: tuple[Run, ...]
    state: CoverageState
    quotes: int
    chapter: int | None


@dataclass(frozen=True)
class Sheet:
    """Everything that an export shows. `explained` is the meaning of the conclusion sign, or ""."""

    title: tuple[Run, ...]
    facts: tuple[str, ...]
    topics: tuple[Proven, ...]
    chapters: tuple[Chapter, ...]
    sources: tuple[Reference, ...]
    cards: tuple[Card, ...]
    explained: str
    say: Phrases = ENGLISH


def words(runs: tuple[Run, ...]) -> str:
    """Return the plain text of runs."""
    return "".join(run.text for run in runs)

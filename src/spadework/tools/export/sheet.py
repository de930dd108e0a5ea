"""A report laid out for every format: runs, blocks, chapters, sources, quotes of markers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from spadework.tools.export.section_blocks import INFERRED
from spadework.tools.text.language import ENGLISH, Phrases
from spadework.tools.text.quotes import Strength
from spadework.values import CoverageState, Form, SectionKind


class Run(NamedTuple):
    """Characters of one kind; never markup."""

    text: str
    code: bool = False
    strength: Strength | None = None


class Marker(NamedTuple):
    """What stands behind a sentence and opens the card of that index: `[n]` its quotes from one
    source, the sign of a conclusion (`n` is 0) all that it rests on. `label` says what it does.
    """

    n: int
    card: int
    label: str = ""

    @property
    def sign(self) -> str:
        """What is shown of it."""
        return f"[{self.n}]" if self.n else INFERRED


@dataclass(frozen=True)
class Said:
    """A sentence, or a code block as it is, and the markers behind it."""

    runs: tuple[Run, ...]
    markers: tuple[Marker, ...] = ()
    code: bool = False
    language: str = ""


Item = tuple[Said, ...]


@dataclass(frozen=True)
class Block:
    """A paragraph or one code block, which are an item each; a list of items; a table of items
    under its columns, whose `heading` says that it is one; a sub-heading.
    """

    kind: Form
    items: tuple[Item, ...] = ()
    heading: tuple[Run, ...] = ()
    columns: tuple[tuple[Run, ...], ...] = ()
    rows: tuple[tuple[Item, ...], ...] = ()


@dataclass(frozen=True)
class Chapter:
    """A section of the report."""

    heading: tuple[Run, ...]
    kind: SectionKind
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Quoted:
    """A quote as read: below its headings, between sentences. `link` is "" if not on the web."""

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
    """A cited source. `link` is "" for what browsers cannot open; `url` is text."""

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
    """How far a topic is proven. `chapter` is the index of its chapter, where it has one."""

    name: tuple[Run, ...]
    state: CoverageState
    quotes: int
    chapter: int | None


@dataclass(frozen=True)
class Sheet:
    """All that an export shows; `explained` is what a sign means, `say` the export's words."""

    title: tuple[Run, ...]
    facts: tuple[str, ...]
    topics: tuple[Proven, ...]
    chapters: tuple[Chapter, ...]
    sources: tuple[Reference, ...]
    cards: tuple[Card, ...]
    explained: str
    say: Phrases = ENGLISH


def words(runs: tuple[Run, ...]) -> str:
    """The text of runs alone."""
    return "".join(run.text for run in runs)

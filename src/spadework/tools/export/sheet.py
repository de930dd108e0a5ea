"""A report laid out, as every format draws it: runs of text, blocks, chapters, numbered sources and
the quotes behind each marker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from spadework.values import CoverageState, SectionKind

BlockKind = Literal["paragraph", "items", "code"]


class Run(NamedTuple):
    """Characters of one kind; never markup."""

    text: str
    code: bool = False


class Marker(NamedTuple):
    """`[n]` behind a sentence; `card` is the index of the card it opens."""

    n: int
    card: int


@dataclass(frozen=True)
class Said:
    """A sentence, an item or the text of a code block, and its markers."""

    runs: tuple[Run, ...]
    markers: tuple[Marker, ...] = ()


@dataclass(frozen=True)
class Block:
    """A paragraph of sentences, a list of items, or one code block."""

    kind: BlockKind
    said: tuple[Said, ...]
    language: str = ""


@dataclass(frozen=True)
class Chapter:
    """A section of the report."""

    heading: tuple[Run, ...]
    kind: SectionKind
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Quoted:
    """A quote as a reader of its page sees it. `link` leads to its words; "" where the page is not
    on the web.
    """

    id: str
    runs: tuple[Run, ...]
    code: bool
    link: str
    date: str


@dataclass(frozen=True)
class Reference:
    """A cited source with all of its quotes. `link` is "" for what a browser cannot open; `url` is
    its address as text.
    """

    n: int
    title: tuple[Run, ...]
    host: str
    url: str
    link: str
    date: str
    quotes: tuple[Quoted, ...]


@dataclass(frozen=True)
class Card:
    """The quotes of one source behind one marker."""

    source: Reference
    quotes: tuple[Quoted, ...]


@dataclass(frozen=True)
class Proven:
    """How far a topic is proven. `chapter` is the index of its chapter, where it has one."""

    name: tuple[Run, ...]
    state: CoverageState
    percent: int
    quotes: int
    chapter: int | None


@dataclass(frozen=True)
class Sheet:
    """All that an export shows."""

    title: tuple[Run, ...]
    facts: tuple[str, ...]
    topics: tuple[Proven, ...]
    chapters: tuple[Chapter, ...]
    sources: tuple[Reference, ...]
    cards: tuple[Card, ...]


def words(runs: tuple[Run, ...]) -> str:
    """The text of runs alone."""
    return "".join(run.text for run in runs)

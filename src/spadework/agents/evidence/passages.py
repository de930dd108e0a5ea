"""Passages as a role is shown them, and what it points at by their numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from spadework.agents.report.material import below
from spadework.tools.text.markdown import Block, blocks, units
from spadework.tools.text.markdown_tables import rows_of
from spadework.tools.text.prompt_injection import is_injection, spans_between_injections
from spadework.tools.text.sentences import is_term, sentences
from spadework.tools.text.titles import without_targets
from spadework.tools.web.urls import domain_of
from spadework.values import Page, Quality, Recommendation


@dataclass(frozen=True)
class PassageView:
    """A passage `text` = the page's text[start : start + len(text)]; `heading` is the path of
    headings above it, `columns` the names of the columns above a piece of a long table, `score` its
    rank.
    """

    page: Page
    start: int
    text: str
    heading: str = ""
    columns: str = ""
    score: float = 0.0

    def spot(self, span: tuple[int, int]) -> Spot:
        """What stands at a stretch of the page that lies in the passage."""
        start, end = span
        return Spot(self.page, start, end, self.text[start - self.start : end - self.start])


def to_people(shown: PassageView) -> list[PassageView]:
    """What is left of a passage without the sentences that give orders to machines, as passages."""
    spans = spans_between_injections(shown.text)
    if spans == [(0, len(shown.text))]:
        return [shown]
    return [
        replace(shown, start=shown.start + start, text=shown.text[start:end])
        for start, end in spans
    ]


@dataclass(frozen=True)
class Spot:
    """A stretch of a page that proves something: quote == the page's text[start:end]. `claim` is
    what it says, in the words of the model that found it.
    """

    page: Page
    start: int
    end: int
    quote: str
    claim: str = ""

    def overlaps(self, other: Spot) -> bool:
        """Whether the two have words in common, as they stand in a page."""
        return (
            self.page.content_hash == other.page.content_hash
            and self.start < other.end
            and other.start < self.end
        )


@dataclass(frozen=True)
class Judgement:
    """How far a topic is answered by the passages shown. `spots` hold only quotes that stand in a
    page; `near`: they probably answer nothing, and are only the nearest.
    """

    covered: bool
    score: float
    spots: tuple[Spot, ...] = ()
    gaps: tuple[str, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    quality: Quality | None = None
    near: bool = False


Span = tuple[int, int]

#: What stands before a number.
MARK = "¶"
#: Characters of a claim at most: it is one sentence.
CLAIM_CHARS = 300


class Numbered:
    """Passages whose quotable parts are numbered on from 1, through all of them."""

    def __init__(self, shown: Sequence[PassageView]) -> None:
        self.shown = tuple(shown)
        self._parts = [(s, span) for s in self.shown for span in quotable(s.text)]

    def told(self) -> list[dict[str, str]]:
        """The passages as a prompt tells them."""
        return [
            {
                "title": s.page.title,
                "heading": below(s.page.title, s.heading),
                "domain": domain_of(s.page.url),
                "author": s.page.author,
                "date": s.page.published_at.date().isoformat() if s.page.published_at else "",
                "text": text,
                "columns": s.columns,
            }
            for s, text in zip(self.shown, self._texts(), strict=True)
        ]

    def passage(self, number: int) -> PassageView | None:
        """The passage that holds a part; None where no part has this number."""
        return self._parts[number - 1][0] if 0 < number <= len(self._parts) else None

    def spots(self, first: int, last: int, claim: str = "") -> list[Spot]:
        """What stands from one part to another: of each passage of one page that they reach over
        its own; nothing where the first is in none. A claim that speaks to machines is left out.
        """
        begun = self.passage(first)
        if begun is None:
            return []
        said = "" if is_injection(claim) else " ".join(claim.split())[:CLAIM_CHARS]
        named = self._parts[first - 1 : max(first, last)]
        made = []
        for passage in dict.fromkeys(s for s, _ in named if s.page.url == begun.page.url):
            own = [span for s, span in named if s is passage]
            spot = passage.spot((passage.start + own[0][0], passage.start + own[-1][1]))
            made.append(replace(spot, claim=said))
        return made

    def _texts(self) -> Iterator[str]:
        """The passages with their numbers; a sign of their own that looks like one is left out."""
        number = 0
        for s in self.shown:
            marks = {}
            for start, _ in quotable(s.text):
                number += 1
                # A fence is one only where it begins its line.
                fence = s.text.startswith(("```", "~~~"), start)
                marks[start] = f"{MARK}{number}" + ("\n" if fence else " ")
            yield without_targets(s.text.replace(MARK, " "), marks)


def quotable(text: str) -> Iterator[Span]:
    """Where the parts of a text stand that can be quoted, in order: sentences, items of lists, rows
    of tables, and whole blocks of code. A term is quoted with what defines it.
    """
    said = sentences(text)
    term: int | None = None
    for block in blocks(text):
        if is_term(text, block):
            term = block.start if term is None else term
            continue
        if block.kind == "code":
            yield block.start, block.end
        elif block.kind == "table":
            yield from rows_of(text, block)
        elif block.kind == "list":
            yield from items_of(text, block)
        elif block.kind != "heading":
            own = [span for span in said if block.start <= span[0] < block.end]
            if own and term is not None:
                own[0] = (term, own[0][1])
            yield from own
        term = None


def items_of(text: str, block: Block) -> Iterator[Span]:
    """Where the items of a list stand, without the white space at their ends, and none is empty."""
    for start, end in units(text, block):
        said = text[start:end]
        start += len(said) - len(said.lstrip())
        if said.strip():
            yield start, start + len(said.strip())

"""Passages as shown to a role, and the numbered parts it refers to."""

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
    """A passage `text` = page text[start : start + len(text)]; `heading` is its path of headings,
    `columns` the column names of a piece of a long table, `score` its rank.
    """

    page: Page
    start: int
    text: str
    heading: str = ""
    columns: str = ""
    score: float = 0.0

    def spot(self, span: tuple[int, int]) -> Spot:
        """Return a span of the page, which must be within the passage."""
        start, end = span
        return Spot(self.page, start, end, self.text[start - self.start : end - self.start])


def to_people(shown: PassageView) -> list[PassageView]:
    """Split a passage around sentences that instruct machines."""
    spans = spans_between_injections(shown.text)
    if spans == [(0, len(shown.text))]:
        return [shown]
    return [
        replace(shown, start=shown.start + start, text=shown.text[start:end])
        for start, end in spans
    ]


@dataclass(frozen=True)
class Spot:
    """A span of a page that is evidence: quote == page text[start:end]. `claim` is its statement in
    the words of the model that found it.
    """

    page: Page
    start: int
    end: int
    quote: str
    claim: str = ""

    def overlaps(self, other: Spot) -> bool:
        """Return whether the two share words of a page."""
        return (
            self.page.content_hash == other.page.content_hash
            and self.start < other.end
            and other.start < self.end
        )


@dataclass(frozen=True)
class Judgement:
    """How well the passages answer a topic. `spots` are verbatim quotes of pages; `near`: they are
    only the closest, and probably not an answer.
    """

    covered: bool
    score: float
    spots: tuple[Spot, ...] = ()
    gaps: tuple[str, ...] = ()
    recommendations: tuple[Recommendation, ...] = ()
    quality: Quality | None = None
    near: bool = False
    differences: tuple[str, ...] = ()


Span = tuple[int, int]

#: Prefix of a number.
MARK = "¶"
#: Maximum characters of a claim, which is one sentence.
CLAIM_CHARS = 300


class Numbered:
    """Passages whose quotable parts are numbered consecutively from 1."""

    def __init__(self, shown: Sequence[PassageView]) -> None:
        self.shown = tuple(shown)
        self._parts = [(s, span) for s in self.shown for span in quotable(s.text)]

    def as_prompt(self) -> list[dict[str, str]]:
        """Return the passages for a prompt."""
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
        """Return the passage with a numbered part, None if there is no such part."""
        return self._parts[number - 1][0] if 0 < number <= len(self._parts) else None

    def spots(self, first: int, last: int, claim: str = "") -> list[Spot]:
        """Return the text from one part to another, split by passage of the page; empty if the
        first does not exist. A claim that instructs machines is dropped.
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
        """Yield the passages with numbers, removing lookalikes of the number sign."""
        number = 0
        for s in self.shown:
            marks = {}
            for start, _ in quotable(s.text):
                number += 1
                # A fence must start its line.
                fence = s.text.startswith(("```", "~~~"), start)
                marks[start] = f"{MARK}{number}" + ("\n" if fence else " ")
            yield without_targets(s.text.replace(MARK, " "), marks)


def quotable(text: str) -> Iterator[Span]:
    """Yield the spans of a text's quotable parts: sentences, list items, table rows, and whole code
    blocks. A term includes its definition.
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
    """Yield the spans of a list's non-empty items, stripped."""
    for start, end in units(text, block):
        said = text[start:end]
        start += len(said) - len(said.lstrip())
        if said.strip():
            yield start, start + len(said.strip())

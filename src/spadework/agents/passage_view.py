"""What a role is shown of the pages, and what it points at in them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from spadework.tools.text.prompt_injection import spans_between_injections
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

"""Split a page into passages, each with its headings and column names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spadework.agents.evidence.passages import PassageView
from spadework.tools.text.language import spoken
from spadework.tools.text.page_text import PageText
from spadework.tools.text.passages import cut
from spadework.tools.text.tables import rows_of
from spadework.values import Page, Passage

#: Maximum characters of an unsplit table, because one huge passage might not fit.
MOST_TABLE_CHARS = 4_000


class Cut(NamedTuple):
    """A span of a page, with its text, the headings above it, the page's rank (from 0) and
    language.
    """

    content_hash: str
    start: int
    end: int
    text: str
    above: str
    rank: int
    language: str


def show_passage(page: Page, text: PageText, passage: Passage) -> PassageView:
    """Return a passage of `page` with its text, headings and column names."""
    above, columns = text.heading_above(passage.start), text.columns_at(passage.start)
    return PassageView(
        page, passage.start, text[passage.start : passage.end], above, columns, passage.score
    )


def join_passages(passages: Sequence[Passage], texts: Mapping[str, PageText]) -> list[Passage]:
    """Join adjacent passages under the same heading, so that a list keeps its introduction."""
    made = list[Passage]()
    for one in sorted(passages, key=lambda p: (p.content_hash, p.start)):
        last, text = made[-1] if made else one, texts[one.content_hash]
        apart = text[last.end : one.start].strip() or last.content_hash != one.content_hash
        if made and not apart and text.heading_above(last.end) == text.heading_above(one.start):
            score = max(last.score, one.score)
            made[-1] = last.model_copy(update={"end": max(last.end, one.end), "score": score})
        else:
            made.append(one)
    return sorted(made, key=lambda p: -p.score)


def cuts_of(page: Page, text: PageText, rank: int, passage_chars: int) -> list[Cut]:
    """Split a page into passages. `rank` is the page's rank, from 0."""
    code = spoken(text)
    pieces = [
        piece for span in cut(text, passage_chars) for piece in _runs(text, span, passage_chars)
    ]
    return [
        Cut(
            page.content_hash,
            start,
            end,
            text[start:end],
            f"{page.title} {text.heading_above(start)} {text.columns_at(start)}",
            rank,
            code,
        )
        for start, end in pieces
    ]


def _runs(text: PageText, span: tuple[int, int], most: int) -> list[tuple[int, int]]:
    start, end = span
    if end - start <= max(MOST_TABLE_CHARS, most):
        return [span]
    made: list[tuple[int, int]] = []
    for block in text.blocks:
        if block.end <= start or block.start >= end:
            continue
        parts = rows_of(text, block) if block.kind == "table" else [(block.start, block.end)]
        for first, last in parts:
            if (
                made
                and block.kind == "table"
                and made[-1][0] >= block.start
                and last - made[-1][0] <= most
            ):
                made[-1] = (made[-1][0], last)
            else:
                made.append((max(first, start), min(last, end)))
    return made

"""Cutting: a page as passages, each with the headings and the names of columns above it."""

from __future__ import annotations

from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

from spadework.agents.evidence.passages import PassageView
from spadework.tools.text.language import spoken
from spadework.tools.text.markdown import one_line
from spadework.tools.text.markdown_tables import (
    LEAST_COLUMNS,
    Span,
    Step,
    cells,
    header_of,
    rows_of,
    steps_of_lists,
)
from spadework.tools.text.passages import Block, Path, blocks, cut, heading_at, headings, paths
from spadework.tools.text.prompt_injection import is_injection
from spadework.values import Page, Passage

#: A table with more characters than this is judged in runs of rows: as one passage it would leave
#: no room for others, or find none.
MOST_TABLE_CHARS = 4_000


class Cut(NamedTuple):
    """A stretch of a page with its text, what is above it, its page's rank from 0, and language."""

    content_hash: str
    start: int
    end: int
    text: str
    above: str
    rank: int
    language: str


def show_passage(page: Page, text: str, passage: Passage) -> PassageView:
    """A passage with its text and the headings above it."""
    above, columns = heading_above(text, passage.start), columns_at(text, passage.start)
    return PassageView(
        page, passage.start, text[passage.start : passage.end], above, columns, passage.score
    )


def heading_above(text: str, at: int) -> str:
    """The path of headings above a place in a text; one that speaks to machines is none."""
    return heading_at(_headings(text), at)


@lru_cache(maxsize=256)
def _headings(text: str) -> list[Path]:
    """The headings of a text, found once however many of its passages are shown."""
    return paths(found for found in headings(text) if not is_injection(found[2]))


def cuts_of(page: Page, text: str, rank: int, passage_chars: int) -> list[Cut]:
    """The passages of a page, by the rank of the page from 0."""
    found, code = _headings(text), spoken(text)
    pieces = [
        piece for span in cut(text, passage_chars) for piece in _runs(text, span, passage_chars)
    ]
    return [
        Cut(
            page.content_hash,
            start,
            end,
            text[start:end],
            f"{page.title} {heading_at(found, start)} {columns_at(text, start)}",
            rank,
            code,
        )
        for start, end in pieces
    ]


def _runs(text: str, span: tuple[int, int], most: int) -> list[tuple[int, int]]:
    """A passage, or in a long table what stands around the table, and runs of its rows."""
    start, end = span
    if end - start <= max(MOST_TABLE_CHARS, most):
        return [span]
    made: list[tuple[int, int]] = []
    for block in blocks_of(text):
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


def columns_at(text: str, start: int) -> str:
    """The names of the columns on a line, as short as a title, of a passage among rows; or ""."""
    found = blocks_of(text)
    nearest = found[max(0, bisect_right(found, start, key=lambda block: block.start) - 1)]
    header = (
        names_at(text, nearest)
        if nearest.kind == "table" and nearest.start < start < nearest.end
        else None
    )
    return one_line(text[slice(*header)]) if header and header[1] <= start else ""


@lru_cache(maxsize=256)
def names_at(text: str, table: Block, least: int = LEAST_COLUMNS) -> Span | None:
    """Where the names of a table's columns stand, of `least` columns; None for none, or if one
    speaks to machines.
    """
    header = header_of(text, table, least)
    names = cells(text[slice(*header)]) if header else []
    return None if any(map(is_injection, [" ".join(names), *names])) else header


@lru_cache(maxsize=256)
def blocks_of(text: str) -> list[Block]:
    """The blocks of a text, found once however many passages and quotes stand in it."""
    return blocks(text)


@lru_cache(maxsize=256)
def steps_of(text: str) -> dict[int, Step]:
    """The steps of a text by where their words begin, found once however many are quoted."""
    return steps_of_lists(text, blocks_of(text))

"""Chunking: a page as passages, each with its headings and column names."""

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

#: A larger table is judged in groups of rows: as one passage it would crowd out others, or find no
#: room.
MOST_TABLE_CHARS = 4_000


class Cut(NamedTuple):
    """A span of a page with its text, headings, page rank (from 0) and language."""

    content_hash: str
    start: int
    end: int
    text: str
    above: str
    rank: int
    language: str


def show_passage(page: Page, text: str, passage: Passage) -> PassageView:
    """Return a passage with its text and headings."""
    above, columns = heading_above(text, passage.start), columns_at(text, passage.start)
    return PassageView(
        page, passage.start, text[passage.start : passage.end], above, columns, passage.score
    )


def heading_above(text: str, at: int) -> str:
    """Return the path of headings above a position, without any that instruct machines."""
    return heading_at(_headings(text), at)


@lru_cache(maxsize=256)
def _headings(text: str) -> list[Path]:
    return paths(found for found in headings(text) if not is_injection(found[2]))


def cuts_of(page: Page, text: str, rank: int, passage_chars: int) -> list[Cut]:
    """Return the passages of a page with the given rank (from 0)."""
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
    """Split a passage with a long table into the text around it and groups of rows."""
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
    """Return the column names for a passage of rows, on a line as short as a title; or ""."""
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
    """Return the span of a table's column names, of at least `least` columns; None if there are
    none, or one instructs machines.
    """
    header = header_of(text, table, least)
    names = cells(text[slice(*header)]) if header else []
    return None if any(map(is_injection, [" ".join(names), *names])) else header


@lru_cache(maxsize=256)
def blocks_of(text: str) -> list[Block]:
    """Return the blocks of a text, cached for all its passages and quotes."""
    return blocks(text)


@lru_cache(maxsize=256)
def steps_of(text: str) -> dict[int, Step]:
    """Return the steps of a text by where their words begin, cached."""
    return steps_of_lists(text, blocks_of(text))

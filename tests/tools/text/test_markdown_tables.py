"""Rows of Markdown tables: where they stand, and how they read as sentences."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given

from spadework.tools.text.markdown import blocks
from spadework.tools.text.tables import (
    cells,
    header_of,
    named_cells,
    row_as_sentence,
    rows_at,
    rows_of,
)
from tests.tools.text.markdownish import markdown

TOWNS = (
    "| Town | Inhabitants | 2024 |\n|---|---|---|\n| Aldermere | 48,212 | up |\n| Kelling |"
    " 3,100 | |"
)


def test_a_row_is_told_with_the_names_of_its_columns() -> None:
    [table] = blocks(TOWNS)
    header = header_of(TOWNS, table)
    assert header
    assert TOWNS[slice(*header)] == "| Town | Inhabitants | 2024 |"
    rows = [TOWNS[slice(*span)] for span in rows_of(TOWNS, table)]
    assert [row_as_sentence(named_cells(TOWNS[slice(*header)], row)) for row in rows] == [
        "Town: Aldermere; Inhabitants: 48,212; 2024: up.",
        "Town: Kelling; Inhabitants: 3,100.",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("| | |\n|---|---|\n| Inhabitants | 48,212 |", ["Inhabitants: 48,212."]),
        (
            "| Country | Norland |\n|---|---|\n| Inhabitants | 48,212 |",
            ["Country: Norland.", "Inhabitants: 48,212."],
        ),
        (
            "| Kelling | 3,100 | 1902 |\n|---|---|---|\n| Aldermere | 48,212 | 1887 |",
            ["Kelling: 3,100, 1902.", "Aldermere: 48,212, 1887."],
        ),
        (
            "| Kelling | a town | old |\n| -- | -- | -- |\n| Aldermere | a port | older |",
            ["Kelling: a town, old.", "Aldermere: a port, older."],
        ),
        ("| Inhabitants | 48,212 |\n| Area | 30 km² |", ["Inhabitants: 48,212.", "Area: 30 km²."]),
        ("| only | | |\n| | | |", ["only."]),
        (
            "| Area: | 30 km². |\n| **Founded:** | in 1887 |",
            ["Area: 30 km².", "**Founded**: in 1887."],
        ),
    ],
)
def test_a_table_that_does_not_name_its_columns_is_told_by_its_first_cells(
    text: str, said: list[str]
) -> None:
    [table] = blocks(text)
    assert header_of(text, table) is None
    assert [
        row_as_sentence(named_cells("", text[slice(*span)])) for span in rows_of(text, table)
    ] == said


def test_a_pipe_that_is_escaped_parts_no_cells() -> None:
    assert cells(r"| a \| b | c |") == ["a | b", "c"]


@pytest.mark.timed
def test_a_cell_of_a_million_dashes_is_read_at_once() -> None:
    text = f"| Town | Area | Year |\n| {'-' * 1_000_000}x | 5 | up |\n|---|---|---|"
    [table] = blocks(text)
    began = time.perf_counter()
    assert header_of(text, table) is None
    assert len(rows_of(text, table)) == 2
    assert time.perf_counter() - began < 1


def test_a_cell_beyond_the_names_of_columns_is_told_without_one() -> None:
    assert (
        row_as_sentence(named_cells("| Town | Area | Year |", "| Kelling | 5 | 1902 | rebuilt |"))
        == "Town: Kelling; Area: 5; Year: 1902; rebuilt."
    )


@pytest.mark.parametrize(
    ("part", "rows"),
    [
        ("48,212", ["| Aldermere | 48,212 | up |"]),
        ("Inhabitants", ["| Town | Inhabitants | 2024 |"]),
        (
            "2024 |\n|---|---|---|\n| Alder",
            ["| Town | Inhabitants | 2024 |", "| Aldermere | 48,212 | up |"],
        ),
        ("up |\n", ["| Aldermere | 48,212 | up |"]),
        ("---|---", []),
    ],
)
def test_a_part_of_a_table_stands_in_whole_rows(part: str, rows: list[str]) -> None:
    [table] = blocks(TOWNS)
    start = TOWNS.index(part)
    assert [
        TOWNS[slice(*span)] for span in rows_at(TOWNS, table, (start, start + len(part)))
    ] == rows


@given(markdown)
def test_rows_stand_in_their_table_one_after_the_other(text: str) -> None:
    for block in blocks(text):
        if block.kind == "table":
            spans = [span for span in (header_of(text, block), *rows_of(text, block)) if span]
            assert all(
                block.start <= start < end <= block.end and "\n" not in text[start:end]
                for start, end in spans
            )
            assert all(before[1] < after[0] for before, after in pairwise(spans))

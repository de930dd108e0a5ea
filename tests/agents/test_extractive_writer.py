"""Quotes in the form of their pages: rows of one table as a table, all else as code sets it."""

from __future__ import annotations

import pytest

from spadework.agents.extractive import writer
from spadework.agents.extractive.writer import own_cell
from spadework.agents.report.marked_text import one_a_heading
from spadework.agents.report.sentence_context import dangling_leads, state_sentences
from spadework.tools.export.markdown_report import sentences_markdown, to_markdown
from spadework.values import Evidence, Part, Report, Section, Sentence
from tests.tools.export.results import evidence, source

URL = "https://www.example.org/guide"
NAMES, OTHER = 10, 90


def _quoted(
    id_: str, quote: str, kind: str = "text", at: int = 0, of: int | None = None
) -> Evidence:
    made = evidence(id_, "T", quote, URL, kind)
    return made.model_copy(update={"start": at, "columns": of})


TOWNS = _quoted("N", "| Town | Area | Ferry |", "columns", NAMES)
SHIPS = _quoted("S", "| Ship | Age | Crew |", "columns", OTHER)
KELLING = _quoted("K", "| Kelling | 5 | |", "row", 30, NAMES)
ALDERMERE = _quoted("A", "| Aldermere | *30* | daily | new |", "row", 50, NAMES)
ISAURA = _quoted("I", "| Isaura | 14 | 3 |", "row", 99, OTHER)
LEAD = _quoted("L", "The *towns* by area:")


def _drawn(section: Section, *entries: Evidence) -> str:
    listed = [source(1, URL, "Guide", "example.org")]
    report = to_markdown(Report(title="Q", sections=(section,)), {e.id: e for e in entries}, listed)
    return report.partition("## T\n\n")[2].partition("\n\n## Sources")[0]


def test_rows_of_one_table_are_told_under_the_names_of_its_columns() -> None:
    entries = (LEAD, TOWNS, KELLING, ALDERMERE, SHIPS, ISAURA)
    told = writer.section("T", entries)
    assert _drawn(told, *entries) == (
        "The towns by area:\n\n"
        "| Town | Area | Ferry |  |\n"
        "| --- | --- | --- | --- |\n"
        "| Kelling | 5 [1] | – | – |\n"
        "| Aldermere | 30 | daily | new [1] |\n\n"
        "Ship: Isaura; Age: 14; Crew: 3. [1]"
    )
    cells = [one for one in told.sentences if "N" in one.evidence_ids]
    assert [one.evidence_ids for one in cells] == [("K", "N")] * 2 + [("A", "N")] * 4


@pytest.mark.parametrize(
    "entries",
    [
        (TOWNS, KELLING, SHIPS, ISAURA),
        (KELLING, ALDERMERE),
        (_quoted("1", "| Kelling | 5 |", "cells"), _quoted("2", "| Isaura | 14 |", "cells", 99)),
    ],
    ids=["one row of each table", "names that are not quoted", "no names"],
)
def test_rows_without_another_or_without_names_are_sentences(entries: tuple[Evidence, ...]) -> None:
    told = writer.section("T", entries)
    assert not told.parts
    assert all(one.text.endswith(".") for one in told.sentences)


def test_what_leads_or_leans_stays_beside_a_table_as_it_does_without_one() -> None:
    leaning = _quoted("B", "However, it is old.")
    told = writer.section("T", (leaning, LEAD, TOWNS, KELLING, ALDERMERE))
    assert not dangling_leads(told, set())
    assert state_sentences(told)[0].in_words == leaning.quote


def test_a_section_behind_another_of_its_heading_keeps_its_table() -> None:
    entries = (TOWNS, KELLING, ALDERMERE)
    plain = Section(heading="T", sentences=(Sentence(text="One.", evidence_ids=("L",)),))
    table = writer.section("t", entries)
    for order, at in ((table, plain), 0), ((plain, table), 1):
        [one] = one_a_heading(order)
        assert [part.form for part in one.parts][at] == "table"
        assert _drawn(one.model_copy(update={"heading": "T"}), LEAD, *entries).count("\n|") >= 2


def test_sentences_that_no_part_takes_are_set_by_code_behind_what_follows_them() -> None:
    own = Section(
        heading="T",
        sentences=(Sentence(text="One."), Sentence(text="Two.")),
        parts=(Part(form="steps", takes=(1,)),),
    )
    joined = own.followed_by(writer.section("T", (TOWNS, KELLING, ALDERMERE)))
    assert [(part.form, part.quoted) for part in joined.parts] == [
        ("steps", False),
        ("paragraph", True),
        ("table", True),
    ]


@pytest.mark.parametrize(
    ("text", "row", "own"),
    [
        ("Kelling", "", True),
        ("5", "Kelling · Area", True),
        ("5", "Kelling · Ferry", False),
        ("5", "Aldermere · Area", False),
        ("5", "", False),
        ("30", "Kelling · Area", False),
    ],
)
def test_a_cell_is_in_its_own_words_only_in_its_row_and_column(
    text: str, row: str, own: bool
) -> None:
    assert own_cell(text, row, (KELLING, TOWNS)) is own
    assert not own_cell(text, row, (KELLING,))


def test_a_bar_within_a_cell_is_told_once_as_it_is() -> None:
    piped = _quoted("P", r"| `-a \| b` | x \| y | |", "row", 70, NAMES)
    entries = (TOWNS, KELLING, piped)
    told = writer.section("T", entries)
    cell, other = told.sentences[2:]
    assert (cell.text, other.text) == ("`-a | b`", "x | y")
    assert own_cell("`-a | b`", "", (piped, TOWNS))
    drawn = _drawn(told, *entries)
    assert r"| `-a \| b` | x \| y [1] | – |" in drawn
    assert all(text in drawn for text in sentences_markdown(told))
    assert writer.quote_entry(piped, TOWNS).text == "Town: `-a | b`; Area: x | y."


def test_rows_quoted_together_are_told_without_the_line_below_the_names() -> None:
    together = _quoted("E1", "| Apple | red |\n| -- | -- |\n| Pear | green |", "cells")
    told = [sentence.text for sentence in writer.section("Fruit", [together]).sentences]
    assert len(told) == 2
    assert not any("--" in text for text in told)

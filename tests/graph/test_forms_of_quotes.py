"""Reports without a model keep the form of what they quote: steps stay numbered, rows
of a table stay a table.
"""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pytest
from lxml import html

from spadework.sessions.one_call import research
from spadework.sessions.session import Session
from spadework.settings import Settings
from spadework.tools.export.docx_report import to_docx
from spadework.tools.export.html_report import to_html
from spadework.values import Result

NOTES = """# Quillon

Quillon is a wind-up radio that is sold by the makers of the Aldermere ferry.

## How to run Quillon locally

1. Install the winder.
2. Run `quillon up`.
3. Open the lid of Quillon.

## Quillon compared with Isaura

| | Quillon | Isaura |
|---|---|---|
| price of a ride | two shillings | free |
| speed | 9 knots | |
| season of rides | April to October | all year |

## Endings of the files of the winder

| ending of a file | what the file holds |
|---|---|
| .wnd | windings of one day |
| .lid | openings of the lid |
"""
TABLE = """|  | Quillon | Isaura |
| --- | --- | --- |
| price of a ride | two shillings | free [1] |
| speed | 9 knots [1] | – |
| season of rides | April to October | all year [1] |"""
PAIRS = """| ending of a file | what the file holds |
| --- | --- |
| .wnd | windings of one day [1] |
| .lid | openings of the lid [1] |"""
STEPS = ["Install the winder.", "Run quillon up.", "Open the lid of Quillon."]


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "quillon.md").write_text(NOTES)
    return Settings.load(library=(tmp_path / "notes",), search="library", iterations=1)


async def _asked(settings: Settings, question: str) -> Result:
    result = await research(question, settings)
    assert result.mode == "extractive"
    return result


async def test_steps_that_are_quoted_in_order_stay_numbered(settings: Settings) -> None:
    result = await _asked(settings, "How do I run Quillon locally?")
    assert (
        "1. Install the winder. [1]\n2. Run `quillon up`. [1]\n3. Open the lid of Quillon. [1]"
        in result.report
    )
    page = html.fromstring(to_html(result))
    marked = page.xpath("//main//ol[not(li/@value)]/li")
    assert [one.text_content().split("[")[0].strip() for one in marked] == STEPS
    read = docx.Document(io.BytesIO(to_docx(result)))
    numbered = [p.text for p in read.paragraphs if p.style and p.style.name == "List Number"]
    assert [text.split("[")[0].strip() for text in numbered] == STEPS


async def test_rows_that_stand_together_are_a_table_whose_cells_cite_them(
    settings: Settings,
) -> None:
    result = await _asked(settings, "Compare Quillon and Isaura")
    assert TABLE in result.report
    quotes = {e.id: e.quote for topic in result.topics for e in topic.evidence}
    speed = [c for c in result.citations if quotes[c.evidence_id].startswith("| speed")]
    assert {(c.sentence, c.verdict) for c in speed} == {
        ("speed", "supported"),
        ("9 knots", "supported"),
    }
    cited = {c.sentence for c in result.citations if "Isaura" in quotes[c.evidence_id]}
    assert {"price of a ride", "free", "all year"} <= cited
    assert all(c.sentence in result.report for c in result.citations)
    drawn, *_ = html.fromstring(to_html(result)).xpath("//main//table[.//th[.='Isaura']]")
    assert [th.text_content() for th in drawn.xpath(".//th")] == ["", "Quillon", "Isaura"]
    tables = docx.Document(io.BytesIO(to_docx(result))).tables
    told = [[[cell.text.split(" [")[0] for cell in row.cells] for row in t.rows] for t in tables]
    own, *_ = [table for table in told if "Isaura" in table[0]]
    assert own[:3] == [
        ["", "Quillon", "Isaura"],
        ["price of a ride", "two shillings", "free"],
        ["speed", "9 knots", "–"],
    ]


async def test_a_table_of_two_columns_has_its_first_row_above_the_others(
    settings: Settings,
) -> None:
    result = await _asked(settings, "What does each ending of a file hold?")
    assert PAIRS in result.report
    assert "ending of a file:" not in result.report


async def test_a_table_is_told_shorter_as_a_whole_and_is_one_in_the_next_report(
    settings: Settings,
) -> None:
    first = await Session.start("Compare Quillon and Isaura", settings=settings).result()
    following = Session.start("shorter", settings=settings, follows=first.session_id)
    shorter = await following.result()
    assert len(shorter.report) < len(first.report)
    assert TABLE in shorter.report

"""A table with figures has a chart of its own cells, each bar with the marks of its quote."""

from __future__ import annotations

from io import BytesIO

import docx
import pytest
from docx.shared import Inches
from lxml import html

from spadework.tools.export.docx_report import to_docx
from spadework.tools.export.html_report import to_html
from spadework.values import CoveredTopic, Part, Report, Result, Section, Sentence
from tests.tools.export.results import WEB, evidence, result, source
from tests.tools.export.rich import on_the_page

NAMES = ("Coal Quay", "Fish Quay", "Old Pier")


def table(
    cells: tuple[str, ...], *, name: str = "Length", quoted: bool = True, once: bool = False
) -> Result:
    """A report whose table has the cells beside NAMES, each cited, or each row `once`."""
    said: list[Sentence] = []
    for n, cell in enumerate(cells):
        ids = (f"E{n + 1}",) if quoted else ()
        said += [Sentence(text=NAMES[n], evidence_ids=() if once else ids)]
        said += [Sentence(text=cell, evidence_ids=ids)]
    part = Part(form="table", columns=("Quay", name), takes=(1,) * len(said))
    document = Report(
        title="How long are the quays?",
        sections=(Section(heading="Quays", sentences=tuple(said), parts=(part,)),),
    )
    ledger = tuple(
        evidence(f"E{n + 1}", "Quays", f"{NAMES[n]} is {cell} long.", WEB)
        for n, cell in enumerate(cells)
    )
    topics = (CoveredTopic(name="Quays", covered=True, score=1.0, evidence=ledger),)
    return result(document, topics, (source(1, WEB, "Quays", "example.org"),))


def chart(report: Result, *, page: bool = False) -> html.HtmlElement | None:
    drawn = on_the_page(report) if page else html.document_fromstring(to_html(report))
    return next(iter(drawn.xpath("//figure[@class='chart']")), None)


@pytest.mark.parametrize("page", [False, True])
def test_a_column_of_figures_is_drawn_and_each_value_opens_its_quote(page: bool) -> None:
    drawn = chart(table(("212 m", "1,060 m", "53 m")), page=page)
    assert drawn is not None
    assert [bar.get("width") for bar in drawn.iter("rect")] == ["20.0%", "100.0%", "5.0%"]
    assert [p[0].text_content() for p in drawn.iter("p")] == [*NAMES]
    assert drawn.findtext("figcaption") == "Length"
    opened = [p.xpath(".//button/@popovertarget") for p in drawn.iter("p")]
    assert opened == [["card-1"], ["card-2"], ["card-3"]]


def test_the_mark_of_a_row_is_that_of_its_value() -> None:
    drawn = chart(table(("212 m", "1,060 m"), once=True))
    assert drawn is not None
    assert all(p.xpath(".//button") for p in drawn.iter("p"))


def test_word_draws_the_bars_too_and_each_value_links_to_its_source() -> None:
    document = docx.Document(BytesIO(to_docx(table(("212 m", "1,060 m")))))
    told = [paragraph.text for paragraph in document.paragraphs]
    at = told.index("Length")
    assert told[at + 1 : at + 5] == ["Coal Quay 212 m [1]", "", "Fish Quay 1,060 m [1]", ""]
    bars = [document.paragraphs[at + n] for n in (2, 4)]
    assert [bar._p.xpath("w:pPr/w:shd/@w:val") for bar in bars] == [["clear"], ["clear"]]
    assert [bar.paragraph_format.right_indent for bar in bars] == [Inches(6) * 0.8, 0]
    links = document.paragraphs[at + 1]._p.xpath("w:hyperlink/@w:anchor")
    assert links == ["source_1"]


@pytest.mark.parametrize(
    "report",
    [
        table(("212 m", "long")),
        table(("212 m", "40 feet")),
        table(("1984", "1985"), name="Built"),
        table(("212 m",)),
        table(("0", "0")),
        table(("212 m", "53 m"), quoted=False),
        table(("about 40 to 50 m", "53 m")),
        table(("-4 °C", "6 °C")),
        table(("1,5 kg", "12 kg")),
        table(("v2.0", "v3.1")),
        table(("3.9", "3.11")),
        table(("3.9.1", "3.11.0")),
    ],
)
def test_other_columns_are_not_drawn(report: Result) -> None:
    assert chart(report) is None

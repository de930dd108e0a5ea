"""The Word document, read back: what stands in it, where its links lead, and that nothing from
outside becomes more than text.
"""

from __future__ import annotations

import io
from urllib.parse import urlsplit

import docx
import pytest
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml.ns import qn
from hypothesis import given, settings, strategies as st

from spadework.tools.export.docx_report import to_docx
from spadework.values import Result
from tests.tools.export.results import (
    CODE,
    DRAWN,
    EVERYWHERE,
    HOSTILE,
    HOSTILE_URLS,
    full,
    hostile,
    squeezed,
)
from tests.tools.export.rich import Words, rich

_ELEMENTS = (
    "body p pPr pStyle r rPr rStyle t br tab color sz szCs u vertAlign hyperlink bookmarkStart"
    " bookmarkEnd tbl tblPr tblStyle tblW tblLook tblGrid gridCol tr tc tcPr tcW sectPr pgSz pgMar"
    " cols docGrid document jc b numPr numId"
)


def read(result: Result) -> Document:
    return docx.Document(io.BytesIO(to_docx(result)))


def text_of(document: Document) -> str:
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return "\n".join([paragraph.text for paragraph in document.paragraphs] + cells)


def targets(document: Document) -> list[str]:
    return [
        rel.target_ref
        for rel in document.part.rels.values()
        if rel.reltype == RELATIONSHIP_TYPE.HYPERLINK
    ]


def test_everything_of_the_report_stands_in_it() -> None:
    document = read(full())
    text = squeezed(text_of(document))
    assert [
        part for part in (*EVERYWHERE, *DRAWN) if part != "python" and squeezed(part) not in text
    ] == []
    assert squeezed("Meaning answered 3 Use partly answered 3 Prices not answered 0") in text
    assert "Nevercited" not in text
    assert document.core_properties.title == "What is a sluice?"


def test_each_list_of_steps_begins_at_one() -> None:
    document = read(rich())
    lists = [p._p.pPr.numPr.numId.val for p in document.paragraphs if p.style.name == "List Number"]
    assert len(set(lists)) == 2
    overrides = {
        num.numId: [start.get(qn("w:val")) for start in num.iter(qn("w:startOverride"))]
        for num in document.part.numbering_part.element.num_lst
    }
    assert all(overrides[number] == ["1"] for number in lists)


def test_headings_lists_and_code_have_their_styles() -> None:
    styled = {p.text: p.style.name for p in read(full()).paragraphs if p.style}
    assert styled["What is a sluice?"] == "Title"
    assert styled["Meaning"] == styled["Sources"] == "Heading 1"
    assert styled["Close it again. [3]"] == "List Bullet"
    assert styled[CODE] == "Code"
    assert styled["There are 52 sluices."] == "Quote"


def test_markers_lead_to_numbered_sources_and_sources_to_their_pages() -> None:
    document = read(full())
    said = next(p for p in document.paragraphs if "Counts differ." in p.text)
    assert said.text == "A sluice is a gate for water. [1] Counts differ. [1][2]"
    anchors = [link.get(qn("w:anchor")) for link in said._p.iter(qn("w:hyperlink"))]
    marked = {
        mark.get(qn("w:name")): p.text
        for p in document.paragraphs
        for mark in p._p.iter(qn("w:bookmarkStart"))
    }
    assert [marked[anchor].split("\n")[0] for anchor in anchors] == [
        "1.\tThe guide to sluices",
        "1.\tThe guide to sluices",
        "2.\tA blog",
    ]
    assert sorted(targets(document)) == [
        "https://blog.example.net/a?b=1&c=2#:~:text=There%20are%2052%20sluices.",
        "https://www.example.org/guide#:~:text=A%20sluice%20is%20a%20gate",
    ]


def assert_harmless(result: Result) -> None:
    document = read(result)
    assert {element.tag.partition("}")[2] for element in document.element.iter()} <= set(
        _ELEMENTS.split()
    )
    for target in targets(document):
        assert target.isascii()
        assert urlsplit(target).scheme in ("http", "https")
        assert not set(target) & set(" <>\"'{}|\\^`\n") - {"'"}


@pytest.mark.parametrize("url", HOSTILE_URLS)
def test_no_hostile_url_is_more_than_text(url: str) -> None:
    assert_harmless(hostile("words", url))


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=4).map("".join),
    st.sampled_from(HOSTILE_URLS) | st.text(max_size=40),
)
def test_nothing_is_injected(words: str, url: str) -> None:
    assert_harmless(hostile(words, url))
    assert_harmless(rich(Words(words, words, words, words, words, words, url)))


def test_a_title_longer_than_a_document_may_have_is_cut_in_its_properties_alone() -> None:
    document = read(hostile("long " * 100, "https://a.example/"))
    assert len(document.core_properties.title) == 255
    assert len(document.paragraphs[0].text) == 499


def _in(language: str, heading: str) -> Document:
    """A report in a language, its first section under this heading."""
    made = full()
    first, *rest = made.document.sections
    first = first.model_copy(update={"heading": heading, "kind": "topic"})
    told = {"language": language, "sections": (first, *rest)}
    return read(made.model_copy(update={"document": made.document.model_copy(update=told)}))


def _directions(document: Document) -> dict[str, bool]:
    """Whether each paragraph, by its text, is from right to left."""
    return {p.text: bool(p._p.xpath("w:pPr/w:bidi")) for p in document.paragraphs if p.text}


@pytest.mark.parametrize(("language", "heading"), [("he-IL", "מה זה סכר"), ("ar", "ما هو السد")])
def test_a_report_in_a_language_from_right_to_left_is_set_so(language: str, heading: str) -> None:
    document = _in(language, heading)
    directions = _directions(document)
    assert directions[heading]
    assert [text for text, turned in directions.items() if not turned] == [CODE]
    assert all(table._tbl.xpath("w:tblPr/w:bidiVisual") for table in document.tables)
    cells = [p for t in document.tables for c in t._cells for p in c.paragraphs]
    assert all(p._p.xpath("w:pPr/w:bidi") for p in cells if p.text and p.style.name != "Code")
    turned = {r.text for p in document.paragraphs for r in p.runs if r.font.rtl}
    assert heading in turned
    assert "A sluice is a gate for water." not in turned
    [lang] = document.styles.element.xpath("w:docDefaults/w:rPrDefault/w:rPr/w:lang")
    assert lang.get(qn("w:bidi")) == language.partition("-")[0]


def test_other_reports_name_their_language_and_keep_their_direction() -> None:
    document = _in("de", "Was ein Wehr ist")
    assert not any(_directions(document).values())
    [lang] = document.styles.element.xpath("w:docDefaults/w:rPrDefault/w:rPr/w:lang")
    assert lang.get(qn("w:val")) == "de"

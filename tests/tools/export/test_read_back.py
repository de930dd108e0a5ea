"""Every format gives back the sentences, marks, lists, tables and code of a report as they were
set, whatever stands in them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import docx
import pytest
from docx.oxml.ns import qn
from docx.table import Table, _Cell
from docx.text.paragraph import Paragraph
from hypothesis import given, settings, strategies as st
from lxml import html
from markdown_it import MarkdownIt

from spadework.tools.export.docx_report import to_docx
from spadework.tools.export.html_report import to_html
from spadework.values import Result
from tests.tools.export.results import HOSTILE, HOSTILE_URLS, full
from tests.tools.export.rich import (
    Piece,
    Read,
    Words,
    behind_code,
    expected,
    joined,
    on_the_page,
    rich,
    squeezed,
)

_GITHUB = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
_STYLES = {
    "Heading 1": "section",
    "Heading 2": "heading",
    "List Bullet": "bullets",
    "List Number": "steps",
}


def of_markdown(result: Result) -> list[Read]:
    page = html.document_fromstring(f"<div>{_GITHUB.render(result.report)}</div>")
    found = _blocks(page.find("body/div"))
    titles = [n for n, (form, _, _) in enumerate(found) if form == "section"]
    return found[titles[0] : titles[-1]]


def of_html(result: Result) -> list[Read]:
    page = html.document_fromstring(to_html(result))
    return _of_sections(page.xpath("//main/section[starts-with(@id, 'chapter-')]"))


def of_page(result: Result) -> list[Read]:
    return _of_sections(on_the_page(result).xpath("//section[starts-with(@id, 'chapter-')]"))


def of_docx(result: Result) -> list[Read]:
    document = docx.Document(io.BytesIO(to_docx(result)))
    found: list[Read] = []
    number = None
    for one in document.iter_inner_content():
        if isinstance(one, Table):
            cells = [cell for row in one.rows for cell in row.cells]
            names = tuple(squeezed(cell.text) for cell in one.rows[0].cells)
            found.append(("table", names, tuple(map(_of_cell, cells[len(names) :]))))
            continue
        style, text = one.style.name if one.style else "", one.text
        if style in ("Heading 1", "Heading 2"):
            found.append((_STYLES[style], (squeezed(text),), ()))
        elif style in ("List Bullet", "List Number"):
            before, number = number, _number(one)
            goes_on = found[-1][0] == _STYLES[style] and number == before
            items = found.pop()[2] if goes_on else ()
            found.append((_STYLES[style], (), (*items, joined([("words", text)]))))
        elif style in ("List Continue", "Code in a list"):
            form, names, items = found.pop()
            piece = ("code" if style == "Code in a list" else "words", text)
            found.append((form, names, (*items[:-1], joined([*items[-1], piece]))))
        elif style == "Code":
            found.append(("code", (), ((("code", text),),)))
        elif style == "Normal" and text:
            found.append(("paragraph", (), (joined([("words", text)]),)))
    titles = [n for n, (form, _, _) in enumerate(found) if form == "section"]
    return behind_code(found[titles[0] : titles[-1]])


def _number(paragraph: Paragraph) -> str:
    """The numbering of an item, "" where it has that of its style."""
    found = paragraph._p.find(f".//{qn('w:numId')}")
    return "" if found is None else str(found.get(qn("w:val")))


def _of_cell(cell: _Cell) -> tuple[Piece, ...]:
    return joined(
        [
            ("code" if one.style and one.style.name == "Code" else "words", one.text)
            for one in cell.paragraphs
        ]
    )


def _of_sections(sections: list[html.HtmlElement]) -> list[Read]:
    return [block for section in sections for block in _blocks(section)]


def _blocks(within: html.HtmlElement) -> list[Read]:
    found: list[Read] = []
    for one in within:
        if one.tag == "figure":  # the cells of the table before it, drawn
            continue
        if one.tag == "h2":
            found.append(("section", (squeezed(one.text_content()),), ()))
        elif one.tag == "h3":
            found.append(("heading", (squeezed(one.text_content()),), ()))
        elif one.tag in ("ul", "ol"):
            form = "steps" if one.tag == "ol" else "bullets"
            found.append((form, (), tuple(joined(list(_pieces(item))) for item in one)))
        elif (table := next(one.iter("table"), None)) is not None:
            names = tuple(squeezed(name.text_content()) for name in table.iter("th"))
            cells = tuple(joined(list(_pieces(cell))) for cell in table.iter("td"))
            found.append(("table", names, cells))
        else:
            pieces = joined(list(_pieces(one)))
            found.append((pieces[0][0].replace("words", "paragraph"), (), (pieces,)))
    return behind_code(found)


def _pieces(element: html.HtmlElement) -> Iterator[Piece]:
    if element.tag == "pre":
        yield "code", element.text_content().strip("\n")
    else:
        yield "words", element.text or ""
        for child in element:
            yield from _pieces(child)
            yield "words", child.tail or ""


def lists_joined(found: list[Read]) -> list[Read]:
    """Of bullets that follow each other Word makes one list."""
    made: list[Read] = []
    for block in found:
        if made and made[-1][0] == block[0] == "bullets":
            made[-1] = ("bullets", (), made[-1][2] + block[2])
        else:
            made.append(block)
    return made


def read_back(result: Result) -> None:
    """Every format gives back what the result holds."""
    whole = expected(result)
    assert of_html(result) == whole
    assert of_page(result) == whole
    assert lists_joined(of_docx(result)) == lists_joined(whole)
    assert of_markdown(result) == expected(result, code_in_cells=False)
    again = Result.model_validate_json(result.model_dump_json())
    assert again == result


def test_every_form_is_read_back_from_every_format() -> None:
    read_back(rich())


def test_a_report_that_no_writer_set_is_read_back_too() -> None:
    read_back(full())


def test_a_session_from_before_there_were_forms_is_loaded_and_drawn_as_it_was() -> None:
    old = json.loads(full().model_dump_json())
    for section in old["document"]["sections"]:
        del section["parts"]
        for sentence in section["sentences"]:
            del sentence["inferred"]
    for topic in old["topics"]:
        for one in topic["evidence"]:
            for name in ("title", "author", "heading", "before", "after", "claim"):
                del one[name]
    loaded = Result.model_validate(old)
    assert loaded == full()
    read_back(loaded)


@pytest.mark.parametrize("words", HOSTILE)
def test_hostile_words_are_read_back_as_words(words: str) -> None:
    read_back(rich(Words(words, words, words, words, words, words)))


_words = st.lists(
    st.sampled_from((*HOSTILE, "|", "\\|", "`a|b`", "~~x~~", "1. ", "[1]", "- ", "---"))
    | st.sampled_from(("**x:**", "*y*", "_z_"))
    | st.text(max_size=9),
    max_size=4,
).map("".join)


@settings(max_examples=15)
@given(_words, _words, _words, _words, st.sampled_from(HOSTILE_URLS) | st.text(max_size=30))
def test_anything_is_read_back(
    said: str, cell: str, heading: str, column: str, address: str
) -> None:
    read_back(rich(Words(said, cell, heading, column, said, cell, address)))

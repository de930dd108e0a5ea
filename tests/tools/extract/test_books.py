"""OpenDocument files and e-books."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from spadework.errors import Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.extracted import Extracted
from tests.tools.extract.files import epub, odf, zipped

LONG = "The winter tide reached the second step of the harbour office on eleven days in 1974. " * 3


def read(body: bytes) -> Extracted:
    return read_document(body, media_type="", url="https://example.com/file")


def test_a_text_has_its_headings_paragraphs_lists_tables_and_code():
    body = (
        '<text:p text:style-name="Title">Dues</text:p><text:h'
        ' text:outline-level="2">Boats</text:h><text:p>A boat<text:s'
        ' text:c="2"/>pays<text:line-break/>14'
        " <text:span>crowns</text:span>.</text:p><text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>in"  # noqa: E501
        " it</text:p></text:list-item></text:list></text:list-item></text:list><text:list"
        ' text:style-name="L1"><text:list-item><text:p>first</text:p></text:list-item></text:list><text:p'  # noqa: E501
        ' text:style-name="P1">x = 1</text:p><text:p text:style-name="P1"><text:s'
        ' text:c="4"/>y</text:p><table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell></table:table-row></table:table><office:annotation><text:p>a'  # noqa: E501
        " remark</text:p></office:annotation>"
    )
    styles = (
        '<style:style style:name="P1"'
        ' style:parent-style-name="Preformatted_20_Text"/><text:list-style'
        ' style:name="L1"><text:list-level-style-number text:level="1"/></text:list-style>'
    )
    found = read(odf(body, styles=styles))
    assert (
        found.markdown
        == "# Dues\n\n## Boats\n\nA boat  pays\n14 crowns.\n\n- one\n    - in it\n\n1."
        " first\n\n```\nx = 1\n    y\n```\n\n| a |\n| --- |\n\n"
        "Comment: a remark"
    )
    assert (found.title, found.author, found.kind) == ("Dues", "R. Penn", "odt")
    assert found.published_at == datetime(2026, 2, 14, 9, tzinfo=UTC)


def test_the_paragraphs_of_an_item_are_of_one_item():
    items = ["<text:p>one</text:p><text:p>and more</text:p>", "<text:p>two</text:p>"]
    entries = "".join(f"<text:list-item>{item}</text:list-item>" for item in items)
    styles = (
        '<text:list-style style:name="L1"><text:list-level-style-number'
        ' text:level="1"/></text:list-style>'
    )
    body = f'<text:list text:style-name="L1">{entries}</text:list>'
    assert read(odf(body, styles=styles)).markdown == "1. one\n\n   and more\n2. two"


def test_what_stands_behind_an_inner_list_stays_behind_it():
    inner = "<text:list><text:list-item><text:p>in it</text:p></text:list-item></text:list>"
    body = (
        f"<text:list><text:list-item><text:p>one</text:p>{inner}<text:p>behind</text:p>"
        "<text:p>and more</text:p></text:list-item><text:list-item><text:p>two</text:p>"
        "</text:list-item></text:list>"
    )
    found = read(odf(body)).markdown
    assert found == "- one\n    - in it\n- behind\n\n  and more\n- two"


def test_headings_that_are_numbered_as_items_of_a_list_are_headings():
    head = '<text:h text:outline-level="{}">{}</text:h>'
    inner = f"<text:list><text:list-item>{head.format(2, 'Boats')}</text:list-item></text:list>"
    body = f"<text:list><text:list-item>{head.format(1, 'Dues')}</text:list-item></text:list>"
    deep = f"<text:list><text:list-item>{inner}</text:list-item></text:list>"
    found = read(odf(f"{body}<text:p>A boat pays.</text:p>{deep}"))
    assert found.markdown == "# Dues\n\nA boat pays.\n\n## Boats"


def test_the_sheets_of_a_spreadsheet_are_tables_that_do_not_grow_without_end():
    row = (
        "<table:table-row><table:table-cell><text:p>1</text:p></table:table-cell><table:table-cell"
        ' table:number-columns-repeated="999999999999999999999999"/></table:table-row>'
    )
    body = f'<table:table table:name="Tides">{row}{row}</table:table>'
    assert read(odf(body, kind="spreadsheet")).markdown == "## Tides\n\n| 1 |\n| --- |\n| 1 |"


def test_an_encrypted_or_empty_file_is_refused():
    with pytest.raises(Unreadable, match="damaged"):
        read(
            zipped(
                {
                    "mimetype": "application/vnd.oasis.opendocument.text",
                    "content.xml": b"\x01\x02 not XML",
                }
            )
        )


def test_the_chapters_of_a_book_are_in_the_order_of_reading():
    found = read(
        epub(
            [
                f"<h1>One</h1><p>First. {LONG}</p>",
                f"<h1>Two</h1><p>Second. {LONG}</p><pre>x  = 1</pre>",
            ]
        )
    )
    assert (
        found.markdown.index("First.")
        < found.markdown.index("Second.")
        < found.markdown.index("x  = 1")
    )
    assert "Contents" not in found.markdown
    assert (found.title, found.author, found.language, found.kind) == (
        "The Light",
        "R. Penn",
        "en",
        "epub",
    )
    assert found.published_at == datetime(2020, 5, 1, tzinfo=UTC)


def test_a_book_has_its_first_title_and_all_its_authors():
    more = "<dc:title>A Story of Tides</dc:title><dc:creator>B. Finch</dc:creator>"
    found = read(epub(["<p>A</p>"], more=more))
    assert (found.title, found.author) == ("The Light", "R. Penn, B. Finch")


def test_parts_that_are_not_read_are_named():
    note = {"OEBPS/text/notes.xhtml": "<p>Notes</p>", "OEBPS/book.css": "a", "OEBPS/a.png": "x"}
    shown = read(epub([f"<p>{LONG}</p>"], parts=note)).markdown
    assert shown.endswith("\n\n… Parts of the file were not read: OEBPS/text/notes.xhtml.")
    inner = {"Object 2/content.xml": "<d/>", "Object 2/styles.xml": "<d/>", "settings.xml": "<d/>"}
    text = odf(f"<text:p>{LONG}</text:p>", parts={**inner, "META-INF/manifest.xml": "<m/>"})
    assert read(text).markdown.endswith(
        "\n\n… Parts of the file were not read: Object 2/content.xml."
    )

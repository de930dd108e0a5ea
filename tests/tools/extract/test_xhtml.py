"""XHTML is read as XML: what is closed in itself is closed."""

from __future__ import annotations

import pytest

from spadework.tools.extract import read_document
from tests.tools.extract.files import epub

TEXT = "The winter tide reached the second step of the harbour office and stayed there. "
HEAD = '<html xmlns="http://www.w3.org/1999/xhtml"><head>{}</head><body>{}</body></html>'


def read(page: str) -> str:
    return read_document(
        page.encode(), media_type="application/xhtml+xml", url="https://e.example/tide.xhtml"
    ).markdown


@pytest.mark.parametrize(
    "empty", ["<title/>", '<script src="a.js"/>', "<style />", "<title/><noscript/>"]
)
@pytest.mark.parametrize("well_formed", [True, False])
def test_an_element_closed_in_itself_does_not_swallow_the_page(empty, well_formed):
    page = HEAD.format(empty, f"<h1>Tides</h1><p>{TEXT * 4}</p>{'' if well_formed else '<br>'}")
    assert TEXT.strip() in read(page)


def test_characters_sections_and_prefixes_of_xml_are_read():
    coded = "Kaf&eacute;&nbsp;<![CDATA[<b> & more]]>"
    body = f"<h1>Tides</h1><p>{TEXT * 4} {coded}</p><p><a id='x'/>{TEXT}End.</p>"
    page = '<?xml version="1.0" encoding="utf-8"?>\n' + HEAD.format("<title>T</title>", body)
    found = read(page)
    assert "Kafé" in found
    assert "<b> & more" in found.replace("\\", "").replace("&lt;", "<").replace("&amp;", "&")
    assert found.rstrip().endswith("End.")


def test_a_chapter_with_an_empty_title_is_read():
    chapter = HEAD.format("<title/>", f"<h1>Tides</h1><p>{TEXT * 4}</p>")
    book = read_document(epub([chapter]), media_type="", url="book.epub")
    assert TEXT.strip() in book.markdown


def test_a_page_that_only_calls_itself_xhtml_stays_html():
    page = HEAD.format("<title>T</title>", f"<p>{TEXT * 4}<p>One & two<br/>")
    assert "One & two" in read(page).replace("&amp;", "&")

"""What a reader leaves out for its limits is said in the text, with how much it is: nothing is lost
silently.
"""

from __future__ import annotations

from random import Random

import pytest

from spadework.tools.extract import read_document
from spadework.tools.extract.archive import MAX_CHAPTERS
from spadework.tools.extract.markdown_writer import MAX_CELL, MAX_ROWS, not_shown
from spadework.tools.extract.office.pptx import MAX_SLIDES
from spadework.tools.extract.office.xlsx import MAX_SHEETS
from spadework.tools.extract.page.constants import MOST_DEPTH
from spadework.tools.extract.pdf.reader import MAX_PAGES
from spadework.tools.extract.text.feed import MAX_ENTRIES
from tests.tools.extract.files import epub, odf, pptx, tarred, xlsx, zipped
from tests.world.paper import pdf

SLIDE = "<p:sp><p:txBody><a:p><a:r><a:t>A boat.</a:t></a:r></a:p></p:txBody></p:sp>"
CHAPTER = (
    "<h1>Tides</h1><p>"
    + "The winter tide reached the second step of the harbour office. " * 4
    + "</p>"
)
MAIL = (
    b"From: a@b.c\nSubject: Dues\nMIME-Version: 1.0\nContent-Type: multipart/mixed;"
    b" boundary=x\n\n--x\n\nA boat pays.\n--x\nContent-Type: application/pdf\nContent-Disposition:"
    b' attachment; filename="dues.pdf"\n\nJVBER\n--x\nContent-Type: image/png\nContent-Disposition:'
    b" attachment\n\n0\n--x--\n"
)


def lines(body: bytes, media_type: str = "") -> list[str]:
    return (
        read_document(body, media_type=media_type, url="https://example.com/file")
        .markdown.strip()
        .split("\n\n")
    )


@pytest.mark.parametrize(
    ("body", "media_type", "said"),
    [
        (b"a,b\n" * (MAX_ROWS + 12_000), "text/csv", "… 12,000 further rows are not shown."),
        (b"a,b\n" * (MAX_ROWS + 1), "text/csv", "… 1 further row is not shown."),
        (b",".join([b"a"] * 120) + b"\n1,2\n", "text/csv", "… 20 further columns are not shown."),
        (
            b"a,b\n1," + b"x" * 200_000,
            "text/csv",
            "… Everything after line 2 is not shown: field larger than field limit (131072).",
        ),
        (
            xlsx({f"S{n}": "<row><c><v>1</v></c></row>" for n in range(MAX_SHEETS + 3)}),
            "",
            "… 3 further sheets are not shown.",
        ),
        (pptx([SLIDE] * (MAX_SLIDES + 2)), "", "… 2 further slides are not shown."),
        (epub([CHAPTER] * (MAX_CHAPTERS + 2)), "", "… 2 further chapters are not shown."),
        (
            epub(["<i>" * 100_000]),
            "",
            (
                "… The chapter 90 c.xhtml is not shown: there are more tags than can be read"
                " before its text begins."
            ),
        ),
        (
            b"<rss><channel>" + b"<item><title>A boat</title></item>" * (MAX_ENTRIES + 7),
            "",
            "… 7 further entries are not shown.",
        ),
        (
            pdf("\f".join(f"Page {n}." for n in range(MAX_PAGES + 5))),
            "",
            "… 5 further pages are not shown.",
        ),
        (
            zipped({f"{n}.txt": "A boat." for n in range(10_300)}),
            "",
            "… 10,000 or more further members are not shown.",
        ),
        (
            tarred({f"{n}.txt": b"A boat." for n in range(203)}),
            "",
            "… 3 further members are not shown.",
        ),
        (
            zipped({"a.txt": bytes(20_000_001), "b.bin": Random(1).randbytes(150_000)}),
            "",
            "… Not shown: it has more than 20,000,000 bytes.",
        ),
        (
            zipped({"a.exe": b"\x7fELF"}),
            "",
            "… Not shown: application/x-executable is not supported.",
        ),
        (MAIL, "message/rfc822", "… Not opened: dues.pdf, image/png."),
    ],
)
def test_what_is_left_out_is_said(body, media_type, said):
    assert said in lines(body, media_type)


def test_a_cell_that_is_cut_ends_with_a_sign():
    shown = lines(b"a,b\n1," + b"x" * (MAX_CELL + 5) + b"\n", "text/csv")[0]
    assert shown.endswith("| 1 | " + "x" * MAX_CELL + "… |")


def test_rows_and_cells_that_are_repeated_are_rows_and_cells():
    row = (
        '<table:table-row table:number-rows-repeated="{}"><table:table-cell'
        " {}><text:p>a</text:p></table:table-cell></table:table-row>"
    )
    empty = (
        '<table:table-row table:number-rows-repeated="1000000"><table:table-cell'
        ' table:number-columns-repeated="16384"/></table:table-row>'
    )
    table = (
        "<table:table"
        f' table:name="S">{row.format(2, "")}{empty}{row.format(6_000, "")}</table:table>'
    )
    shown = lines(odf(table, kind="spreadsheet"))
    assert shown[1].count("| a |") == MAX_ROWS - 1
    assert shown[2] == "… 1,003 further rows are not shown."
    wide = f"<table:table>{row.format(1, 'table:number-columns-repeated=' + chr(34) + '130' + chr(34))}</table:table>"  # noqa: E501
    assert lines(odf(wide, kind="spreadsheet"))[-1] == "… 30 further columns are not shown."


def test_text_in_elements_nested_deep_is_not_lost():
    deep = "<div>" * (MOST_DEPTH * 2)
    page = f"<article><p>{'The winter tide reached the second step. ' * 9}</p>{deep}<p>{'A boat pays 14 crowns a night. ' * 9}</p>"  # noqa: E501
    assert "A boat pays 14 crowns" in "".join(lines(page.encode(), "text/html"))


def test_the_line_is_english():
    assert not_shown(0, "rows") == ""
    assert not_shown(1, "entries") == "… 1 further entry is not shown."
    assert (
        not_shown(10_000, "members", more=True) == "… 10,000 or more further members are not shown."
    )

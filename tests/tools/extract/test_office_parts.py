"""Office files: every part is read, is furniture, or is named in a last line."""

from __future__ import annotations

import pytest

from spadework.tools.extract import read_document
from tests.tools.extract.files import W, docx

M = 'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math"'
C = (
    'xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"'
    ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
)


def points(*values: str) -> str:
    return "".join(f'<c:pt idx="{n}"><c:v>{value}</c:v></c:pt>' for n, value in enumerate(values))


CHART = (
    f"<c:chartSpace {C}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>Boats let</a:t></a:r></a:p>"
    "</c:rich></c:tx></c:title><c:plotArea><c:barChart><c:ser><c:tx><c:strRef><c:strCache>"
    f"{points('2024')}</c:strCache></c:strRef></c:tx><c:cat><c:strRef><c:strCache>"
    f"{points('May', 'June')}</c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>"
    f"{points('41', '57.5')}</c:numCache></c:numRef></c:val></c:ser></c:barChart></c:plotArea>"
    "</c:chart></c:chartSpace>"
)
CHART_SHOWN = "Chart: Boats let\n\n|  | 2024 |\n| --- | --- |\n| May | 41 |\n| June | 57.5 |"


def run(text: str, settings: str = "") -> str:
    return f'<w:r><w:rPr>{settings}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def raised(text: str, place: str = "superscript") -> str:
    return run(text, f'<w:vertAlign w:val="{place}"/>')


def word(body: str, **given: object) -> str:
    read = read_document(docx(body, **given), media_type="", url="https://x.example/a")  # type: ignore[arg-type]
    return read.markdown.strip()


@pytest.mark.parametrize(
    ("runs", "shown"),
    [
        (run("It holds 10") + raised("6") + run(" litres."), "It holds 10^6 litres."),
        (run("H") + raised("2", "subscript") + run("O"), "H2O"),
        (
            run("In 1984") + '<w:r><w:footnoteReference w:id="7"/></w:r>' + run(" it"),
            "In 1984[1] it",
        ),
        (run("Styled 10") + run("6", '<w:rStyle w:val="Up"/>'), "Styled 10^6"),
        (
            f"<m:oMath {M}><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>-5</m:t>"
            "</m:r></m:sup></m:sSup></m:oMath>",
            "10^-5",
        ),
        (f"<m:oMath {M}><m:unheard><m:t>5</m:t></m:unheard></m:oMath>", "[formula]"),
    ],
)
def test_a_word_file_keeps_its_powers_and_notes(runs: str, shown: str) -> None:
    up = '<w:style w:styleId="Up"><w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    assert word(f"<w:p>{runs}</w:p>", styles=up).split("\n")[0] == shown


def test_notes_and_comments_stand_behind_the_text() -> None:
    def reference(kind: str, number: int) -> str:
        return f'<w:r><w:{kind}Reference w:id="{number}"/></w:r>'

    def part(kind: str, texts: dict[int, str]) -> str:
        notes = "".join(
            f'<w:{kind} w:id="{n}" w:author="A. Penn"><w:p><w:r><w:{kind}Ref/></w:r>{run(text)}'
            f"</w:p></w:{kind}>"
            for n, text in texts.items()
        )
        return f"<w:{kind}s {W}>{notes}</w:{kind}s>"

    body = run("One") + reference("footnote", 5) + run(" and two") + reference("endnote", 3)
    text = word(
        f"<w:p>{body}{run(', three')}{reference('footnote', 2)}</w:p>",
        parts={
            "footnotes.xml": part("footnote", {2: "Of 1987.", 5: "Of 1986."}),
            "endnotes.xml": part("endnote", {3: "At the end."}),
            "comments.xml": part("comment", {0: "Is it so?"}),
        },
    )
    assert text == (
        "One[1] and two[2], three[3]\n\n[1] Of 1986.\n\n[2] At the end.\n\n[3] Of 1987.\n\n"
        "Comment (A. Penn): Is it so?"
    )


def test_text_boxes_charts_and_diagrams_stand_behind_their_paragraph() -> None:
    box = f"<w:txbxContent><w:p>{run('In a box.')}</w:p></w:txbxContent>"
    drawings = (
        f"<w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        '</mc:AlternateContent></w:r><w:r><w:drawing><c:chart r:id="r1"/></w:drawing></w:r>'
        '<w:r><w:drawing><dgm:relIds r:dm="r2"/></w:drawing></w:r>'
    )
    diagram = f"<dgm {C}><pt><t><a:p><a:r><a:t>First</a:t></a:r></a:p></t></pt><pt/></dgm>"
    text = word(
        f'<w:p xmlns:mc="m" xmlns:c="c" xmlns:dgm="d">{run("Text.")}{drawings}</w:p>',
        links={"r1": "charts/chart1.xml", "r2": "diagrams/data1.xml"},
        parts={"charts/chart1.xml": CHART, "diagrams/data1.xml": diagram},
    )
    assert text == f"Text.\n\nIn a box.\n\n{CHART_SHOWN}\n\n- First"


def test_a_part_that_is_not_read_is_named() -> None:
    text = word(f"<w:p>{run('Text.')}</w:p>", parts={"embeddings/sheet.xlsx": "x", "media/a": "x"})
    assert text == "Text.\n\n… Parts of the file are not read: word/embeddings/sheet.xlsx."


def test_a_cell_merged_down_says_its_text_in_each_row() -> None:
    def cell(text: str, settings: str = "") -> str:
        return f"<w:tc><w:tcPr>{settings}</w:tcPr><w:p>{run(text)}</w:p><w:p/></w:tc>"

    begun, goes_on = '<w:vMerge w:val="restart"/>', "<w:vMerge/>"
    rows = (
        cell("Pier") + cell("Trips"),
        cell("Ostvik", begun) + cell("411"),
        cell("", goes_on) + cell("902"),
    )
    table = "".join(f"<w:tr>{row}</w:tr>" for row in rows)
    assert word(f"<w:tbl>{table}</w:tbl>").endswith("| Ostvik | 411 |\n| Ostvik | 902 |")

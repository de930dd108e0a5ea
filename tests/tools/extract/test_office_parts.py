"""Office files: every part is read, is furniture, or is named in a last line."""

from __future__ import annotations

import pytest

from spadework.tools.extract import read_document
from tests.tools.extract.files import W, docx, odf, pptx, relations, xlsx

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


def read(body: bytes) -> str:
    return read_document(body, media_type="", url="https://x.example/a").markdown.strip()


def word(body: str, **given: object) -> str:
    return read(docx(body, **given))  # type: ignore[arg-type]


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
    assert text == "Text.\n\n… Parts of the file were not read: word/embeddings/sheet.xlsx."


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


def shape(runs: str) -> str:
    return f"<p:sp><p:txBody><a:p>{runs}</a:p></p:txBody></p:sp>"


def slide_run(text: str, settings: str = "") -> str:
    return f"<a:r><a:rPr {settings}/><a:t>{text}</a:t></a:r>"


def test_a_slide_keeps_its_powers_charts_and_comments() -> None:
    runs = slide_run("It holds 10") + slide_run("6", 'baseline="30000"') + slide_run(" litres")
    chart = '<p:graphicFrame><c:chart xmlns:c="c" r:id="charts/chart1.xml"/></p:graphicFrame>'
    comment = "<p:cmLst xmlns:p='p'><p:cm><p:text>Is it so?</p:text></p:cm></p:cmLst>"
    parts = {"charts/chart1.xml": CHART, "comments/comment1.xml": comment}
    text = read(pptx([shape(runs) + chart], further=parts))
    assert text == f"It holds 10^6 litres\n\n{CHART_SHOWN}\n\nComment: Is it so?"


def test_a_slide_s_merged_cells_say_their_text_in_each_row_and_column() -> None:
    def cell(text: str, settings: str = "") -> str:
        return f"<a:tc {settings}><a:txBody><a:p>{slide_run(text)}</a:p></a:txBody></a:tc>"

    rows = (
        cell("Pier") + cell("Trips", 'gridSpan="2"') + cell("", 'hMerge="1"'),
        cell("Ostvik", 'rowSpan="2"') + cell("4") + cell("5"),
        cell("", 'vMerge="1"') + cell("6") + cell("7"),
    )
    table = "".join(f"<a:tr>{row}</a:tr>" for row in rows)
    lines = read(pptx([f"<p:graphicFrame><a:tbl>{table}</a:tbl></p:graphicFrame>"])).split("\n")
    assert (lines[0], lines[3]) == ("| Pier | Trips | Trips |", "| Ostvik | 6 | 7 |")


SPAN = (
    '<style:style style:name="Up"><style:text-properties style:text-position="super 58%"/>'
    '</style:style><style:style style:name="Down"><style:text-properties'
    ' style:text-position="-33% 58%"/></style:style>'
)


def test_an_opendocument_text_keeps_its_powers_notes_formulas_and_charts() -> None:
    note = (
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Of 1986."
        "</text:p></text:note-body></text:note>"
    )
    drawn = '<draw:object xmlns:draw="d" xmlns:xlink="x" xlink:href="./Object {}"/>'
    body = (
        '<text:p>It holds 10<text:span text:style-name="Up">6</text:span> of H<text:span'
        f' text:style-name="Down">2</text:span>O in 1984{note} as {drawn.format(1)}.</text:p>'
        f"<text:p>{drawn.format(2)}</text:p>"
    )
    formula = "<math><msup><mi>x</mi><mn>2</mn></msup></math>"
    chart = (
        '<d><chart><title><p>Boats let</p></title><table><table-row><table-cell table-name="a">'
        "<p>May</p></table-cell><table-cell><p>41</p></table-cell></table-row></table></chart></d>"
    )
    parts = {"Object 1/content.xml": formula, "Object 2/content.xml": chart}
    assert read(odf(body, styles=SPAN, parts=parts)) == (
        "It holds 10^6 of H2O in 1984[1] as x^2.\n\nChart: Boats let\n\n| May | 41 |\n| --- | --- |"
        "\n\n[1] Of 1986."
    )


def test_a_list_in_a_cell_of_opendocument_and_merged_cells() -> None:
    def cell(inside: str, settings: str = "") -> str:
        return f"<table:table-cell {settings}>{inside}</table:table-cell>"

    items = "".join(
        f"<text:list-item><text:p>Number {n}</text:p></text:list-item>" for n in ("one", "two")
    )
    covered = "<table:covered-table-cell/>"
    rows = (
        cell("<text:p>Pier</text:p>", 'table:number-rows-spanned="2"')
        + cell(f"<text:list>{items}</text:list>"),
        covered + cell("<text:p>x</text:p>"),
        cell("<text:p>All</text:p>", 'table:number-columns-spanned="2"') + covered,
    )
    table = "".join(f"<table:table-row>{row}</table:table-row>" for row in rows)
    lines = read(odf(f"<table:table>{table}</table:table>")).split("\n")
    assert (lines[0], *lines[2:]) == (
        "| Pier | Number one Number two |",
        "| Pier | x |",
        "| All |  |",
    )


def test_a_sheet_keeps_its_powers_merged_cells_charts_and_comments() -> None:
    def cell(place: str, inside: str) -> str:
        return f'<c r="{place}" t="inlineStr"><is>{inside}</is></c>'

    power = (
        "<r><t>10</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>6</t></r><r><t> l</t></r>"
    )
    rows = (
        f'<row r="1">{cell("A1", "<t>Pier</t>")}{cell("B1", power)}</row>'
        f'<row r="2">{cell("B2", "<t>x</t>")}</row>'
    )
    chart = '<d xmlns:c="c" xmlns:r="r"><c:chart r:id="c1"/></d>'
    comment = "<comments><comment ref='B2'><text><t>Is it so?</t></text></comment></comments>"
    parts = {
        "drawings/drawing1.xml": chart,
        "drawings/_rels/drawing1.xml.rels": relations({"c1": "../charts/chart1.xml"}),
        "charts/chart1.xml": CHART,
        "comments1.xml": comment,
    }
    assert read(xlsx({"Dues": rows}, merged="A1:A2", further=parts)) == (
        f"## Dues\n\n| Pier | 10^6 l |\n| --- | --- |\n| Pier | x |\n\n{CHART_SHOWN}\n\n"
        "Comment on B2: Is it so?"
    )

"""Word, Excel and PowerPoint files: what is seen in them, as Markdown."""

from __future__ import annotations

import zipfile
from datetime import UTC, datetime
from io import BytesIO

import pytest

from spadework.errors import TooLarge, Unreadable
from spadework.tools.extract import read_document
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import MAX_COLUMNS, MAX_ROWS
from tests.tools.extract.files import docx, office, pptx, xlsx

STYLES = (
    '<w:style w:styleId="T"><w:name w:val="Title"/></w:style><w:style'
    ' w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style><w:style'
    ' w:styleId="Mine"><w:basedOn w:val="berschrift1"/><w:name w:val="My own"/></w:style><w:style'
    ' w:styleId="B"><w:name w:val="List Bullet"/><w:pPr><w:numPr><w:numId'
    ' w:val="1"/></w:numPr></w:pPr></w:style><w:style w:styleId="Code"><w:name w:val="Source'
    ' Code"/></w:style><w:style w:styleId="Ring"><w:basedOn w:val="Ring"/></w:style>'
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt'
    ' w:val="bullet"/></w:lvl></w:abstractNum><w:abstractNum w:abstractNumId="1"><w:lvl'
    ' w:ilvl="0"><w:numFmt w:val="decimal"/></w:lvl></w:abstractNum><w:num'
    ' w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId'
    ' w:val="1"/></w:num>'
)


def read(body: bytes) -> Extracted:
    return read_document(
        body, media_type="application/octet-stream", url="https://example.com/download?id=7"
    )


def p(text: str, style: str = "", settings: str = "", run: str = "") -> str:
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    return (
        f"<w:p><w:pPr>{named}{settings}</w:pPr><w:r><w:rPr>{run}</w:rPr><w:t"
        f' xml:space="preserve">{text}</w:t></w:r></w:p>'
    )


def listed(number: int, depth: int = 0) -> str:
    return f'<w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="{number}"/></w:numPr>'


def word(body: str, **links: str) -> str:
    return read(docx(body, styles=STYLES, numbering=NUMBERING, links=links)).markdown


def test_a_word_file_tells_what_it_says_about_itself():
    found = read(docx(p("A boat pays 14 crowns.")))
    assert (found.title, found.author, found.language, found.kind) == (
        "Dues",
        "R. Penn",
        "en",
        "docx",
    )
    assert found.published_at == datetime(2026, 2, 14, 9, tzinfo=UTC)


@pytest.mark.parametrize("name", ["python-docx", "Microsoft Office User"])
def test_a_name_that_a_program_writes_is_no_author(name: str):
    file = docx(p("A boat pays 14 crowns."))
    with zipfile.ZipFile(BytesIO(file)) as archive:
        parts = {one: archive.read(one) for one in archive.namelist()}
    core = "docProps/core.xml"
    parts[core] = parts[core].replace(b"R. Penn", name.encode())
    written = BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for one, data in parts.items():
            archive.writestr(one, data)
    assert read(written.getvalue()).author == ""


def test_headings_are_known_by_the_names_of_their_styles_and_by_their_level():
    outline = '<w:outlineLvl w:val="2"/>'
    text = (
        p("A", "T")
        + p("B", "berschrift1")
        + p("C", "Mine")
        + p("D", settings=outline)
        + p("E", settings='<w:outlineLvl w:val="9"/>')
    )
    assert word(text) == "# A\n\n# B\n\n# C\n\n### D\n\nE"


def test_lists_keep_their_depth_and_their_numbers():
    text = (
        p("one", "B")
        + p("in it", "B", listed(1, 1))
        + p("two", "B")
        + p("first", settings=listed(2))
        + p("second", settings=listed(2))
    )
    assert word(text + p("Text.")) == "- one\n    - in it\n- two\n\n1. first\n2. second\n\nText."


def test_a_list_goes_on_behind_what_interrupts_it():
    step = listed(2)
    text = p("a", settings=step) + p("b", settings=listed(2, 1)) + p("Text.")
    more = p("c", settings=step) + p("x = 1", "Code") + p("d", settings=step)
    assert word(text + more) == "1. a\n    - b\n\nText.\n\n2. c\n\n```\nx = 1\n```\n\n3. d"


def test_a_cell_that_spans_columns_keeps_the_others_in_theirs():
    def row(*cells: tuple[str, int]) -> str:
        spans = (f'<w:tcPr><w:gridSpan w:val="{span}"/></w:tcPr>{p(text)}' for text, span in cells)
        return f"<w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in spans)}</w:tr>"

    table = row(("Boat", 1), ("Feet", 1), ("Dues", 1)) + row(("any", 2), ("14", 1))
    assert word(f"<w:tbl>{table}</w:tbl>").split("\n")[2] == "| any | any | 14 |"


def test_code_is_one_block_whether_a_style_or_a_font_says_so():
    fixed = '<w:rFonts w:ascii="Consolas"/>'
    assert (
        word(p("def f():", "Code") + p("", "Code") + p("    return '`'", "Code"))
        == "```\ndef f():\n\n    return '`'\n```"
    )
    assert (
        word(p("a = 1", run=fixed) + p("  b = 2", run=fixed) + p("Text."))
        == "```\na = 1\n  b = 2\n```\n\nText."
    )


def test_links_lead_where_they_lead():
    link = (
        '<w:p><w:r><w:t xml:space="preserve">See </w:t></w:r><w:hyperlink r:id="{}"><w:r><w:t>the'
        " dues</w:t></w:r></w:hyperlink></w:p>"
    )
    text = link.format("a") + link.format("b") + link.format("none")
    assert (
        word(text, a="https://example.com/dues", b="javascript:alert(1)")
        == "See [the dues](https://example.com/dues)\n\nSee the dues\n\nSee the dues"
    )


def test_what_is_not_shown_is_not_read():
    deleted = "<w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del>"
    assert (
        word(
            f"<w:p><w:r><w:t>kept</w:t></w:r>{deleted}<w:r><w:instrText>PAGE</w:instrText></w:r></w:p>"
        )
        == "kept"
    )


def test_tables_are_tables_but_a_frame_is_its_text():
    cell = "<w:tc>{}</w:tc>"
    row = "<w:tr>" + cell.format(p("Boat") + p("or ship")) + cell.format(p("14 | 22")) + "</w:tr>"
    assert (
        word(f"<w:tbl>{row}{row}</w:tbl>")
        == "| Boat or ship | 14 \\| 22 |\n| --- | --- |\n| Boat or ship | 14 \\| 22 |"
    )
    assert (
        word(f"<w:tbl><w:tr>{cell.format(p('x = 1', 'Code'))}</w:tr></w:tbl>") == "```\nx = 1\n```"
    )


def test_a_style_based_on_itself_is_a_style():
    assert word(p("Text.", "Ring")) == "Text."


def test_a_text_does_not_become_markup():
    assert word(p("# 5 is the berth")) == "\\# 5 is the berth"


def test_the_cells_of_a_sheet_are_what_they_show():
    rows = (
        '<row r="3"><c r="B3" t="s"><v>0</v></c><c r="C3" t="inlineStr"><is><t>a|b</t></is></c><c'
        ' r="D3" t="str"><v>made</v></c></row><row r="4"><c r="B4"><v>0.30000000000000004</v></c><c'
        ' r="C4" t="b"><v>1</v></c><c r="D4" s="1"><v>46067.5</v></c></row><row r="5"><c r="B5"'
        ' s="1"><v>46067</v></c><c r="C5" s="2"><v>0.25</v></c><c r="D5"'
        ' t="e"><v>#DIV/0!</v></c></row><row r="6"><c r="B6" s="3"><v>12</v></c><c r="C6"'
        ' t="s"><v>99</v></c><c r="D6"/></row>'
    )
    styles = (
        '<numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm"/><numFmt numFmtId="165"'
        ' formatCode="[Red]0 &quot;days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf'
        ' numFmtId="164"/><xf numFmtId="20"/><xf numFmtId="165"/></cellXfs>'
    )
    found = read(xlsx({"Tides": rows}, strings=["Day"], styles=styles))
    assert found.kind == "xlsx"
    assert found.markdown.split("\n") == [
        "## Tides",
        "",
        "| Day | a\\|b | made |",
        "| --- | --- | --- |",
        "| 0.3 | TRUE | 2026-02-14 12:00:00 |",
        "| 2026-02-14 | 06:00:00 | #DIV/0! |",
        "| 12 |  |  |",
    ]


@pytest.mark.parametrize(("days", "shown"), [("1.5", "36:00:00"), ("0.25", "06:00:00")])
@pytest.mark.parametrize("lapse", ["46", "170", "171"])
def test_time_that_goes_by_may_be_more_than_a_day(days, shown, lapse):
    codes = '<numFmt numFmtId="170" formatCode="[h]:mm"/><numFmt numFmtId="171" formatCode="[mm]"/>'
    styles = f'<numFmts>{codes}</numFmts><cellXfs><xf numFmtId="{lapse}"/></cellXfs>'
    rows = f'<row><c r="A1" s="0"><v>{days}</v></c></row>'
    assert f"| {shown} |" in read(xlsx({"A": rows}, styles=styles)).markdown


def test_sheets_have_their_order_and_hidden_ones_are_hidden():
    row = '<row><c t="inlineStr"><is><t>{}</t></is></c></row>'
    assert (
        read(xlsx({"B": row.format("b"), "A": row.format("a")})).markdown
        == "## B\n\n| b |\n| --- |\n\n## A\n\n| a |\n| --- |"
    )
    with pytest.raises(Unreadable, match="read as xlsx and contains no text"):
        read(xlsx({"A": row.format("a")}, attributes='state="hidden"'))


def test_a_sheet_is_cut_to_its_first_rows_and_columns():
    rows = "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c><c r="XFD{n}"><v>1</v></c></row>'
        for n in range(1, MAX_ROWS + 100)
    )
    lines = read(xlsx({"Long": rows})).markdown.split("\n")
    assert lines[-5:] == [
        f"| {MAX_ROWS} |",
        "",
        "… 99 further rows are not shown.",
        "",
        "… 16,284 further columns are not shown.",
    ]
    wide = "".join("<c><v>1</v></c>" for _ in range(MAX_COLUMNS + 50))
    assert (
        read(xlsx({"Wide": f"<row>{wide}</row>"})).markdown.split("\n")[2].count("1") == MAX_COLUMNS
    )


@pytest.mark.parametrize("value", ["", "-1", "1e999", "nan", "9" * 5_000, "99999999999", "²"])
@pytest.mark.parametrize("style", ['s="1"', 't="s"', 't="b"', 's="-1"', 't="?"'])
def test_odd_values_are_no_fault(value, style):
    styles = '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>'
    cells = f"<c {style}><v>{value}</v></c><c><v>1</v></c>"
    assert isinstance(read(xlsx({"A": f"<row>{cells}</row>"}, styles=styles)), Extracted)


def shape(*paragraphs: str, place: str = "", settings: str = "") -> str:
    ph = f"<p:nvSpPr><p:nvPr><p:ph {place}/></p:nvPr></p:nvSpPr>" if place else ""
    texts = "".join(
        f"<a:p><a:pPr {settings}/><a:r><a:t>{text}</a:t></a:r></a:p>" for text in paragraphs
    )
    return f"<p:sp>{ph}<p:txBody>{texts}</p:txBody></p:sp>"


def test_slides_are_sections_with_their_lists_and_notes():
    table = "<p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>Boat</a:t></a:r></a:p></a:tc><a:tc/></a:tr></a:tbl></p:graphicFrame>"  # noqa: E501
    first = (
        shape("Tides", place='type="title"')
        + shape("High", "Low", place='idx="1"')
        + shape("7", place='type="sldNum"')
    )
    second = shape("Dues", place='type="ctrTitle"') + table + shape("A loose text.")
    found = read(pptx([first, second], notes={1: shape("Say it slowly.", place='type="body"')}))
    assert (
        found.markdown
        == "## Tides\n\n- High\n- Low\n\n## Dues\n\n| Boat |  |\n| --- | --- |\n\nA loose"
        " text.\n\n> Say it slowly."
    )
    assert (found.title, found.kind) == ("Dues", "pptx")


def test_what_a_slide_holds_twice_for_other_programs_is_read_once():
    choices = "".join(f"<m:{name}>{shape('High')}</m:{name}>" for name in ("Choice", "Fallback"))
    wrapped = f'<m:AlternateContent xmlns:m="m">{choices}</m:AlternateContent>'
    assert read(pptx([wrapped])).markdown == "High"


def test_a_bomb_in_a_part_is_refused_by_its_size():
    with pytest.raises(TooLarge, match="more than 50,000,000 bytes"):
        read(docx("<w:p/>" + " " * 60_000_000))


@pytest.mark.parametrize(
    "bomb", ["<w:r/>" * 4_000_000, "<w:r a='' b='' c=''/>" * 800_000], ids=["plain", "attributes"]
)
def test_a_bomb_of_elements_is_refused_before_it_is_a_tree(bomb):
    with pytest.raises(TooLarge, match="tags and attributes"):
        read(docx(bomb))


def test_entities_are_not_replaced(tmp_path):
    (tmp_path / "secret").write_text("the secret")
    entities = (
        f'<!DOCTYPE w [<!ENTITY s SYSTEM "file://{tmp_path}/secret"><!ENTITY a'
        ' "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]>'
    )
    body = (
        "<w:document"
        f" xmlns:w='w'><w:body>{p('kept')}<w:p><w:r><w:t>&s;&b;</w:t></w:r></w:p></w:body></w:document>"  # noqa: E501
    )
    assert (
        read(office("word/document.xml", {"word/document.xml": entities + body})).markdown == "kept"
    )


@pytest.mark.parametrize("main", ["word/document.xml", "xl/workbook.xml", "ppt/presentation.xml"])
@pytest.mark.parametrize("part", [None, "", "no XML", "\0\0"])
def test_a_file_without_its_main_part_is_damaged(main, part):
    with pytest.raises(Unreadable, match="damaged"):
        read(office(main, {} if part is None else {main: part}))

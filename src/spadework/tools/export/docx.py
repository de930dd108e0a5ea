"""The report as a Word document: headings, paragraphs, code, `[n]` that lead to numbered sources
with their quotes.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from datetime import UTC, datetime

import docx
from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Pt, RGBColor
from docx.text.paragraph import Paragraph

from spadework.tools.export.layout import laid_out
from spadework.tools.export.sheet import Block, Proven, Quoted, Reference, Run, Said, Sheet, words
from spadework.values import Result

#: The longest title that the properties of a document hold.
MOST_TITLE = 255

_ACCENT, _SOFT = RGBColor(0x0A, 0x68, 0x47), RGBColor(0x5A, 0x61, 0x59)
_CODE, _CODE_WORDS, _SOURCE, _FACTS = "Code", "Code words", "Source", "Facts"


def to_docx(result: Result) -> bytes:
    """The report of a result as a .docx file. Only http(s) URLs are links."""
    sheet, document = laid_out(result), docx.Document()
    _styles(document)
    _properties(document, sheet)
    _say(document.add_paragraph(style="Title"), sheet.title)
    document.add_paragraph(" · ".join(sheet.facts), style=_FACTS)
    _coverage(document, sheet.topics)
    for chapter in sheet.chapters:
        if chapter.heading:
            _say(document.add_paragraph(style="Heading 1"), chapter.heading)
        for block in chapter.blocks:
            _block(document, block)
    if sheet.sources:
        document.add_paragraph("Sources", style="Heading 1")
    for source in sheet.sources:
        _source(document, source)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _block(document: Document, block: Block) -> None:
    if block.kind == "code":
        document.add_paragraph(words(block.said[0].runs), style=_CODE)
        if block.said[0].markers:
            _markers(document.add_paragraph(), block.said[0])
        return
    paragraphs = [block.said] if block.kind == "paragraph" else [(said,) for said in block.said]
    for sentences in paragraphs:
        paragraph = document.add_paragraph(style="List Bullet" if block.kind == "items" else None)
        for i, said in enumerate(sentences):
            _say(paragraph, (*([Run(" ")] if i else []), *said.runs))
            _markers(paragraph, said)


def _markers(paragraph: Paragraph, said: Said) -> None:
    """` [n]`, raised; a click leads to the source."""
    if said.markers and paragraph.text:
        paragraph.add_run(" ")
    for marker in said.markers:
        link = OxmlElement("w:hyperlink")
        link.set(qn("w:anchor"), _bookmark(marker.n))
        run = paragraph.add_run(f"[{marker.n}]")
        run.font.superscript = True
        run.font.color.rgb = _ACCENT
        link.append(run._r)
        paragraph._p.append(link)


def _source(document: Document, source: Reference) -> None:
    paragraph = document.add_paragraph(style=_SOURCE)
    mark = OxmlElement("w:bookmarkStart")
    mark.set(qn("w:id"), str(source.n))
    mark.set(qn("w:name"), _bookmark(source.n))
    end = OxmlElement("w:bookmarkEnd")
    end.set(qn("w:id"), str(source.n))
    paragraph._p.append(mark)
    paragraph.add_run(f"{source.n}.\t")
    paragraph._p.append(end)
    _linked(paragraph, source.title, source.link)
    about = paragraph.add_run(
        "\n" + " · ".join(part for part in (source.host, source.date, source.url) if part)
    )
    about.font.color.rgb, about.font.size = _SOFT, Pt(9)
    for quoted in source.quotes:
        _quote(document, quoted)


def _quote(document: Document, quoted: Quoted) -> None:
    if quoted.code:
        document.add_paragraph(words(quoted.runs), style=_CODE)
    else:
        _linked(document.add_paragraph(style="Quote"), quoted.runs, "")


def _linked(paragraph: Paragraph, runs: Iterable[Run], url: str) -> None:
    """Runs as a link to a page on the web; as text without a URL."""
    start = len(paragraph.runs)
    _say(paragraph, runs)
    if not url:
        return
    link = OxmlElement("w:hyperlink")
    link.set(
        qn("r:id"), paragraph.part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    )
    for run in paragraph.runs[start:]:
        run.font.underline = True
        run.font.color.rgb = _ACCENT
        link.append(run._r)
    paragraph._p.append(link)


def _say(paragraph: Paragraph, runs: Iterable[Run]) -> None:
    for run in runs:
        paragraph.add_run(run.text, style=_CODE_WORDS if run.code else None)


def _coverage(document: Document, topics: Iterable[Proven]) -> None:
    table = document.add_table(rows=1, cols=3, style="Light List")
    for cell, heading in zip(table.rows[0].cells, ("Topic", "Coverage", "Quotes"), strict=True):
        cell.text = heading
    for topic in topics:
        cells = table.add_row().cells
        _say(cells[0].paragraphs[0], topic.name)
        cells[1].text, cells[2].text = f"{topic.state}, {topic.percent} %", str(topic.quotes)


def _bookmark(n: int) -> str:
    return f"source_{n}"


def _properties(document: Document, sheet: Sheet) -> None:
    properties = document.core_properties
    properties.title, properties.author, properties.comments = (
        words(sheet.title)[:MOST_TITLE],
        "spadework",
        "",
    )
    properties.created = properties.modified = datetime.now(UTC)


def _styles(document: Document) -> None:
    """Quiet headings, and the styles that Word does not come with."""
    for name, size in (("Title", 24), ("Heading 1", 14)):
        font = document.styles[name].font
        font.size, font.bold, font.color.rgb = Pt(size), True, RGBColor(0x1D, 0x21, 0x1D)
    facts = document.styles.add_style(_FACTS, WD_STYLE_TYPE.PARAGRAPH)
    facts.font.color.rgb = _SOFT
    code = document.styles.add_style(_CODE, WD_STYLE_TYPE.PARAGRAPH)
    code.font.name, code.font.size, code.font.no_proof = "Consolas", Pt(9), True
    code.paragraph_format.left_indent, code.paragraph_format.keep_together = Pt(12), True
    inline = document.styles.add_style(_CODE_WORDS, WD_STYLE_TYPE.CHARACTER)
    inline.font.name, inline.font.no_proof = "Consolas", True
    source = document.styles.add_style(_SOURCE, WD_STYLE_TYPE.PARAGRAPH)
    source.paragraph_format.left_indent, source.paragraph_format.first_line_indent = Pt(24), Pt(-24)
    source.paragraph_format.space_before, source.paragraph_format.space_after = Pt(8), Pt(4)
    quote = document.styles["Quote"]
    quote.font.size, quote.paragraph_format.left_indent, quote.paragraph_format.space_after = (
        Pt(9.5),
        Pt(36),
        Pt(4),
    )

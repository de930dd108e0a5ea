"""Write the report as a Word document. `[n]` links to a source."""

from __future__ import annotations

import io
import struct
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby
from typing import NamedTuple, cast
from unicodedata import bidirectional

import docx
from docx.document import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.image.exceptions import (
    InvalidImageStreamError,
    UnexpectedEndOfFileError,
    UnrecognizedImageError,
)
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import Inches, Pt, RGBColor
from docx.styles.style import CharacterStyle, ParagraphStyle
from docx.table import _Cell
from docx.text.paragraph import Paragraph
from docx.text.run import Run as DocxRun

from spadework.tools.export.layout import laid_out
from spadework.tools.export.sheet import (
    Block,
    Chart,
    Figure,
    Item,
    Reference,
    Run,
    Said,
    Sheet,
    chart_of,
    words,
)
from spadework.tools.text.language import Phrases
from spadework.values import Result

MOST_TITLE = 255
_ACCENT, _SOFT = RGBColor(0x0A, 0x68, 0x47), RGBColor(0x5A, 0x61, 0x59)
_CODE, _CODE_WITHIN, _CODE_WORDS = "Code", "Code in a list", "Code words"
_SOURCE, _FACTS = "Source", "Facts"
#: Paragraph properties that must follow w:bidi, in the schema's order.
_AFTER_BIDI = (
    *("w:adjustRightInd", "w:snapToGrid", "w:spacing", "w:ind", "w:contextualSpacing", "w:jc"),
    *("w:mirrorIndents", "w:suppressOverlap", "w:textDirection", "w:textAlignment"),
    *("w:textboxTightWrap", "w:outlineLvl", "w:divId", "w:cnfStyle", "w:rPr", "w:sectPr"),
)

#: Exceptions that python-docx raises for damaged picture headers.
_DAMAGED = (
    *(InvalidImageStreamError, UnexpectedEndOfFileError, UnrecognizedImageError, struct.error),
    *(ValueError, LookupError, ArithmeticError, AttributeError, TypeError),
)


class _Styles(NamedTuple):
    sign: str | None
    after: str | None
    code: str


_PLAIN = _Styles(None, None, _CODE)
_BULLET = _Styles("List Bullet", "List Continue", _CODE_WITHIN)
_NUMBERED = "List Number"
_STEP = _Styles(_NUMBERED, "List Continue", _CODE_WITHIN)


def to_docx(result: Result) -> bytes:
    """Return the report as a .docx file. Only http(s) URLs become links."""
    sheet, document = laid_out(result), docx.Document()
    _styles(document)
    properties = document.core_properties
    properties.title, properties.author = words(sheet.title)[:MOST_TITLE], "spadework"
    properties.comments = ""
    properties.created = properties.modified = datetime.now(UTC)
    _say(document.add_paragraph(style="Title"), sheet.title)
    document.add_paragraph(" · ".join(sheet.facts), style=_FACTS)
    _coverage(document, sheet)
    for chapter in sheet.chapters:
        if chapter.heading:
            _say(document.add_paragraph(style="Heading 1"), chapter.heading)
        for block in chapter.blocks:
            _block(document, block, sheet.say.language)
        for figure in chapter.figures:
            _picture(document, figure)
    if sheet.sources:
        document.add_paragraph(sheet.say("sources"), style="Heading 1")
    for source in sheet.sources:
        _source(document, source)
    if sheet.explained:
        document.add_paragraph(sheet.explained, style=_FACTS)
    _set_language(document, sheet.say)
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def _set_language(document: Document, say: Phrases) -> None:
    [language] = document.styles.element.xpath("w:docDefaults/w:rPrDefault/w:rPr/w:lang")
    kind = "w:bidi" if say.direction == "rtl" else "w:val"
    for name in (kind, *(["w:eastAsia"] if say.language in ("ja", "ko", "zh") else [])):
        language.set(qn(name), say.language)
    if say.direction == "ltr":
        return
    body = document.element.body
    for paragraph in body.iter(qn("w:p")):
        if paragraph.style not in (_CODE, _CODE_WITHIN.replace(" ", "")):
            paragraph.get_or_add_pPr().insert_element_before(OxmlElement("w:bidi"), *_AFTER_BIDI)
    for table in body.iter(qn("w:tblPr")):
        table.insert_element_before(OxmlElement("w:bidiVisual"), "w:tblW", "w:jc", "w:tblLook")
    for run in body.iter(qn("w:r")):
        if any(bidirectional(char) in ("R", "AL") for char in run.text):
            DocxRun(run, document).font.rtl = True


def _block(document: Document, block: Block, language: str) -> None:
    if block.kind == "heading":
        _say(document.add_paragraph(style="Heading 2"), block.heading)
    elif block.kind == "table":
        _table(document, block)
        if chart := chart_of(block, language):
            _chart(document, chart)
    elif block.kind == "steps":
        number = _numbered_afresh(document)
        for item in block.items:
            first = _item(document, item, _STEP)[0]
            first._p.get_or_add_pPr().get_or_add_numPr().get_or_add_numId().val = number
    else:
        for item in block.items:
            _item(document, item, _BULLET if block.kind == "bullets" else _PLAIN)


def _item(within: Document | _Cell, item: Item, styles: _Styles) -> list[Paragraph]:
    made: list[Paragraph] = []
    for code, together in groupby(item, lambda said: said.code):
        if not code or (styles.sign and not made):
            made.append(within.add_paragraph(style=styles.after if made else styles.sign))
        for i, said in enumerate(together):
            if code:
                made.append(within.add_paragraph(words(said.runs), style=styles.code))
                if said.markers:
                    made.append(within.add_paragraph(style=styles.after))
            else:
                _say(made[-1], (*([Run(" ")] if i else []), *said.runs))
            _markers(made[-1], said)
    return made


def _numbered_afresh(document: Document) -> int:
    numbering = document.part.numbering_part.element
    used = document.styles[_NUMBERED].element.pPr.numPr.numId.val
    like = next(number for number in numbering.num_lst if number.numId == used)
    made = numbering.add_num(like.abstractNumId.val)
    made.add_lvlOverride(ilvl=0).add_startOverride(1)
    return int(made.numId)


def _table(document: Document, block: Block) -> None:
    table = document.add_table(rows=1, cols=max(1, len(block.columns)), style="Table Grid")
    for cell, name in zip(table.rows[0].cells, block.columns, strict=False):
        _say(cell.paragraphs[0], name)
        for run in cell.paragraphs[0].runs:
            run.bold = True
    for row in block.rows:
        for cell, item in zip(table.add_row().cells, row, strict=True):
            if _item(cell, item, _PLAIN):
                cell._tc.remove(cell.paragraphs[0]._p)
    # Without an empty paragraph between them, Word would merge adjacent tables.
    document.add_paragraph()


def _chart(document: Document, chart: Chart) -> None:
    _say(document.add_paragraph(style="Caption"), chart.name)
    for bar in chart.bars:  # the longest bar is as wide as the text
        _item(document, (*bar.label, *bar.value), _PLAIN)[0].paragraph_format.keep_with_next = True
        form, shade = document.add_paragraph().paragraph_format, OxmlElement("w:shd")
        shade.set(qn("w:val"), "clear")
        shade.set(qn("w:fill"), str(_ACCENT))
        form.element.get_or_add_pPr().append(shade)
        form.right_indent, form.line_spacing = int(Inches(6) * (1 - bar.percent / 100)), Pt(8)


def _picture(document: Document, figure: Figure) -> None:
    """Add a picture with its caption. Word cannot show WebP, so WebP pictures are left out."""
    format_, width, height = figure.header
    if format_ == "webp":
        return
    scale = min(Pt(1), Inches(6) / width, Inches(8) / height)
    size = round(width * scale), round(height * scale)
    try:
        shape = document.add_picture(io.BytesIO(figure.data), *size)
    except _DAMAGED:
        return
    shape._inline.docPr.set("descr", words(figure.caption.runs))
    document.paragraphs[-1].paragraph_format.keep_with_next = True
    caption = document.add_paragraph(style="Caption")
    _say(caption, figure.caption.runs)
    _markers(caption, figure.caption)
    caption.add_run(f" {figure.host}")


def _markers(paragraph: Paragraph, said: Said) -> None:
    if said.markers and paragraph.text:
        paragraph.add_run(" ")
    for marker in said.markers:
        link = OxmlElement("w:hyperlink")
        link.set(qn("w:anchor"), f"source_{marker.n}")
        run = paragraph.add_run(marker.sign)
        run.font.superscript, run.font.color.rgb = True, _ACCENT
        if marker.n:
            link.append(run._r)
            paragraph._p.append(link)


def _source(document: Document, source: Reference) -> None:
    paragraph = document.add_paragraph(style=_SOURCE)
    mark, end = OxmlElement("w:bookmarkStart"), OxmlElement("w:bookmarkEnd")
    for one in (mark, end):
        one.set(qn("w:id"), str(source.n))
    mark.set(qn("w:name"), f"source_{source.n}")
    paragraph._p.append(mark)
    paragraph.add_run(f"{source.n}.\t")
    paragraph._p.append(end)
    _add_link(paragraph, source.title, source.link)
    told = filter(None, (source.host, source.author, source.date, source.url))
    about = paragraph.add_run("\n" + " · ".join(told))
    about.font.color.rgb, about.font.size = _SOFT, Pt(9)
    for quoted in source.quotes:
        if quoted.code:
            document.add_paragraph(words(quoted.runs), style=_CODE)
        else:
            _say(document.add_paragraph(style="Quote"), quoted.runs)


def _add_link(paragraph: Paragraph, runs: Iterable[Run], url: str) -> None:
    start = len(paragraph.runs)
    _say(paragraph, runs)
    if not url:
        return
    link = OxmlElement("w:hyperlink")
    target = paragraph.part.relate_to(url, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
    link.set(qn("r:id"), target)
    for run in paragraph.runs[start:]:
        run.font.underline, run.font.color.rgb = True, _ACCENT
        link.append(run._r)
    paragraph._p.append(link)


def _say(paragraph: Paragraph, runs: Iterable[Run]) -> None:
    for run in runs:
        made = paragraph.add_run(run.text, style=_CODE_WORDS if run.code else None)
        made.bold, made.italic = run.strength == "strong" or None, run.strength == "em" or None


def _coverage(document: Document, sheet: Sheet) -> None:
    table = document.add_table(rows=1, cols=3, style="Light List")
    for cell, heading in zip(table.rows[0].cells, ("topic", "coverage", "quotes"), strict=True):
        cell.text = sheet.say(heading)
    for topic in sheet.topics:
        cells = table.add_row().cells
        _say(cells[0].paragraphs[0], topic.name)
        cells[1].text, cells[2].text = sheet.say(f"state_{topic.state}"), str(topic.quotes)


def _style(document: Document, name: str) -> ParagraphStyle:
    styles = document.styles
    found = styles[name] if name in styles else styles.add_style(name, WD_STYLE_TYPE.PARAGRAPH)
    return cast("ParagraphStyle", found)


def _styles(document: Document) -> None:
    for name, size in (("Title", 24), ("Heading 1", 14), ("Heading 2", 12)):
        font = _style(document, name).font
        font.size, font.bold, font.color.rgb = Pt(size), True, RGBColor(0x1D, 0x21, 0x1D)
    facts = _style(document, _FACTS)
    facts.font.color.rgb = _SOFT
    code = _style(document, _CODE)
    code.font.name, code.font.size, code.font.no_proof = "Consolas", Pt(9), True
    code.paragraph_format.left_indent, code.paragraph_format.keep_together = Pt(12), True
    within = _style(document, _CODE_WITHIN)
    within.base_style, within.paragraph_format.left_indent = code, Pt(30)
    inline = cast("CharacterStyle", document.styles.add_style(_CODE_WORDS, WD_STYLE_TYPE.CHARACTER))
    inline.font.name, inline.font.no_proof = "Consolas", True
    source = _style(document, _SOURCE)
    source.paragraph_format.left_indent, source.paragraph_format.first_line_indent = Pt(24), Pt(-24)
    source.paragraph_format.space_before, source.paragraph_format.space_after = Pt(8), Pt(4)
    quote = _style(document, "Quote")
    quote.font.size, quote.paragraph_format.left_indent = Pt(9.5), Pt(36)
    quote.paragraph_format.space_after = Pt(4)

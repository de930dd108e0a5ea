"""PDF files as Markdown: the text of their pages, its lines joined to paragraphs again."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from statistics import median
from threading import Lock
from typing import Any

import pypdfium2 as pdfium

from spadework.errors import Unreadable
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.writing import blocks, item, plain

#: Pages behind this one are not read.
MAX_PAGES = 300

#: A line further below the one before it than this many usual line gaps begins a paragraph.
PARAGRAPH_GAP = 1.35

#: A line shorter than this share of the long lines ends a paragraph.
SHORT_LINE = 0.7

#: A first or last line that so many pages share, but for its numbers, is a running head.
RUNNING = 3

#: pdfium sets this sign where a word is broken at the end of a line.
_BROKEN = "\ufffe"

_PdfDocument: Any = pdfium.PdfDocument  # it has no types
_PDFIUM = Lock()  # the library may be used by one thread at a time
_LINE = re.compile(rf"[^\r\n{_BROKEN}]+{_BROKEN}?")
_BULLETS = frozenset("•▪‣–*-")
_BULLET = re.compile(r"[•▪‣–*-]\s|\(?\d{1,2}[.)]\s|\[\d+\]")
_WORD_BREAK = re.compile(rf"(\w+){_BROKEN}(\w+)")
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")


@dataclass(frozen=True)
class _Line:
    text: str
    bottom: float


def extract_pdf(body: bytes, url: str) -> Extracted:
    """The text of a PDF in paragraphs, with its title, author and date; `markdown` is "" when its pages are only pictures.

    Raises Unreadable when it is damaged or locked by a password.
    """
    try:
        with _PDFIUM, closing(_PdfDocument(body)) as document:
            about = document.get_metadata_dict()
            pages = [_lines(document, number) for number in range(min(len(document), MAX_PAGES))]
    except pdfium.PdfiumError as error:
        raise Unreadable(f"The PDF cannot be read: {str(error).strip(' .')[:100]}.") from None
    paragraphs = _paragraphs(_without_running_heads(pages))
    return Extracted(
        title=about.get("Title", "").strip() or (paragraphs[0] if paragraphs and len(paragraphs[0]) <= 150 else ""),
        markdown=blocks([_item(paragraph) for paragraph in paragraphs]),
        author=about.get("Author", "").strip(),
        published_at=_date(about.get("CreationDate", "")),
        kind="pdf",
    )


def _lines(document: Any, number: int) -> list[_Line]:
    with closing(document.get_page(number)) as page, closing(page.get_textpage()) as text_page:
        known = text_page.count_chars()
        found = [match for match in _LINE.finditer(text_page.get_text_range()) if match[0].strip() and match.start() < known]
        return [_Line(" ".join(match[0].replace("\0", "").split()), text_page.get_charbox(match.start())[1]) for match in found]


def _without_running_heads(pages: list[list[_Line]]) -> list[list[_Line]]:
    """The pages without page numbers and without the first and last lines that many of them share."""
    edges = Counter(shape for page in pages if page for shape in {_shape(page[0]), _shape(page[-1])})
    running = {shape for shape, count in edges.items() if count >= RUNNING or not shape}

    def kept(page: list[_Line]) -> list[_Line]:
        return [line for line in page if line not in (page[0], page[-1]) or _shape(line) not in running]

    return [kept(page) or page for page in pages]


def _shape(line: _Line) -> str:
    return re.sub(r"[\d\s]+", "", line.text)


def _paragraphs(pages: list[list[_Line]]) -> list[str]:
    lines = [line for page in pages for line in page]
    if not lines:
        return []
    gaps = [above.bottom - below.bottom for above, below in pairwise(lines) if above.bottom > below.bottom]
    gap = median(gaps) * PARAGRAPH_GAP if gaps else 0.0
    short = sorted(len(line.text) for line in lines)[len(lines) * 9 // 10] * SHORT_LINE
    paragraphs = [lines[0].text]
    for above, below in pairwise(lines):
        if above.text.endswith(_BROKEN):
            paragraphs[-1] += below.text
        elif _begins(above, below, gap=gap, short=short):
            paragraphs.append(below.text)
        else:
            paragraphs[-1] += " " + below.text
    return _whole_words(paragraphs)


def _begins(above: _Line, below: _Line, *, gap: float, short: float) -> bool:
    """Does a paragraph begin with the line `below`? Where it stands higher than the one above, a column or a page has ended."""
    ended = len(above.text) < short and (above.text[-1] in ".!?:;)" or not below.text[0].islower())
    return above.bottom - below.bottom > gap or ended or bool(_BULLET.match(below.text))


def _item(paragraph: str) -> str:
    """A paragraph as Markdown; one that begins with a bullet is an item of a list."""
    mark, _, text = paragraph.partition(" ")
    return item(plain(text)) if mark in _BULLETS else plain(paragraph)


def _whole_words(paragraphs: list[str]) -> list[str]:
    """Broken words made whole; the hyphen stays in those that have one elsewhere in the text."""
    known = set(re.findall(r"\w+-\w+", " ".join(paragraphs)))

    def whole(broken: re.Match[str]) -> str:
        hyphened = f"{broken[1]}-{broken[2]}"
        return hyphened if hyphened in known else broken[1] + broken[2]

    return [_WORD_BREAK.sub(whole, paragraph).replace(_BROKEN, "") for paragraph in paragraphs]


def _date(text: str) -> datetime | None:
    """The date of PDF's D:YYYYMMDD…, or None."""
    found = _DATE.match(text)
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC) if found else None
    except ValueError:
        return None

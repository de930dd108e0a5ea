"""PDF files as Markdown in reading order: headings, lists, code, tables; scans by OCR."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from itertools import chain
from threading import Lock
from typing import Any

import pypdfium2 as pdfium

from spadework.errors import Unreadable
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import blocks, not_shown
from spadework.tools.extract.pdf.aligned_text import CAPTION, with_aligned_tables
from spadework.tools.extract.pdf.lines import Line, in_order, lines
from spadework.tools.extract.pdf.ocr import MEND, has_ocr
from spadework.tools.extract.pdf.paragraphs import as_blocks
from spadework.tools.extract.pdf.scans import is_scan, scan_page
from spadework.tools.extract.pdf.tables import with_tables
from spadework.tools.extract.process import reading_until

MAX_PAGES = 2_000
#: Word gap, in letter heights, between cells of a table without rules.
CELL_GAP = 0.7
#: A first or last line repeated on this many pages, ignoring numbers, is a running head.
RUNNING = 3
#: A longer first block is not a title.
LONGEST_TITLE = 150

_PdfDocument: Any = pdfium.PdfDocument  # has no types
_PDFIUM = Lock()  # pdfium allows one thread at a time
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")


def extract_pdf(body: bytes, url: str) -> Extracted:
    """Return a PDF's text in paragraphs, with title, author and date. A line states how many pages
    have text only in pictures that were not read.

    Raises Unreadable when it is damaged, locked by a password, or without any text.
    """
    try:
        with _PDFIUM, closing(_PdfDocument(body)) as document:
            about = document.get_metadata_dict()
            count = len(document)
            pages = list(_pages(document, min(count, MAX_PAGES)))
    except pdfium.PdfiumError as error:
        raise Unreadable(f"The PDF cannot be read: {str(error).strip(' .')[:100]}.") from None
    found = as_blocks(_without_running_heads([page for page in pages if page]))
    pictures = sum(page is None for page in pages)
    if not found:
        raise _without_text(pictures)
    first = found[0].lstrip("# ")
    return Extracted(
        title=about.get("Title", "").strip() or (first if len(first) <= LONGEST_TITLE else ""),
        markdown=blocks([*found, _unread(pictures), not_shown(count - len(pages), "pages")]),
        author=about.get("Author", "").strip(),
        published_at=_date(about.get("CreationDate", "")),
        kind="pdf",
    )


def _without_text(pictures: int) -> Unreadable:
    if not pictures:
        return Unreadable("The PDF has no text in it.")
    if has_ocr():
        return Unreadable("The PDF has only pictures, and no text was found in them in time.")
    return Unreadable(
        f"The PDF has only pictures; Tesseract, which reads text in them, is not installed. {MEND}",
        hint=MEND,
    )


def _unread(pictures: int) -> str:
    what = "page is a picture" if pictures == 1 else "pages are pictures"
    return f"… {pictures:,} {what} without text that could be read." if pictures else ""


def _pages(document: Any, count: int) -> Iterator[list[Line] | None]:
    """Yield the pages read in time; None for a picture in which nothing was read."""
    for number in range(count):
        yield _page(document, number)
        if time.monotonic() > reading_until():
            return


def _page(document: Any, number: int) -> list[Line] | None:
    with closing(document.get_page(number)) as page, closing(page.get_textpage()) as text_page:
        found = in_order(with_tables(page, text_page, _lines(text_page)))
        if not is_scan(page, found):
            return found
        seen = scan_page(page)
        return found or None if seen is None else seen or found


def _lines(text_page: Any) -> list[list[Line]]:
    """Return a page's lines with tables without rules, whose cells have narrower gaps."""
    found = list(lines(text_page))
    if not any(CAPTION.match(line[0].text) for line in found):
        return found
    return _wider(with_aligned_tables(list(lines(text_page, CELL_GAP))), found)


def _wider(cells: list[list[Line]], found: list[list[Line]]) -> list[list[Line]]:
    """Return lines with tables among them; outside tables, lines are split as in `found`."""

    def place(line: list[Line]) -> tuple[float, float]:
        return line[0].left, line[0].bottom

    known = {place(line): line for line in found}
    return [line if line[0].table else known.get(place(line), line) for line in cells]


def _without_running_heads(pages: list[list[Line]]) -> list[list[Line]]:
    """Drop page numbers, and first and last lines shared by many pages."""
    ends = ({_shape(page[0]), _shape(page[-1])} for page in pages if page)
    edges = Counter(chain.from_iterable(ends))
    running = {shape for shape, count in edges.items() if count >= RUNNING or not shape}

    def kept(page: list[Line]) -> list[Line]:
        edge = page[0], page[-1]
        return [line for line in page if line not in edge or _shape(line) not in running]

    return [kept(page) or page for page in pages]


def _shape(line: Line) -> str:
    return re.sub(r"[\d\s]+", "", line.text or line.table)


def _date(text: str) -> datetime | None:
    found = _DATE.match(text)
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC) if found else None
    except ValueError:
        return None

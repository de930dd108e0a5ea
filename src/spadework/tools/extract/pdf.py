"""PDF files as Markdown: the text of their pages in the order of reading, with headings, lists,
code and ruled tables.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from threading import Lock
from typing import Any

import pypdfium2 as pdfium

from spadework.errors import Unreadable
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.patience import reading_until
from spadework.tools.extract.pdf_columns import in_order
from spadework.tools.extract.pdf_lines import Line, lines
from spadework.tools.extract.pdf_paragraphs import as_blocks
from spadework.tools.extract.pdf_tables import with_tables
from spadework.tools.extract.writing import blocks, not_shown

#: Pages behind this one are not read, however fast it goes.
MAX_PAGES = 2_000
#: A first or last line that so many pages share, but for its numbers, is a running head.
RUNNING = 3
#: A first block that is longer is no title.
LONGEST_TITLE = 150

_PdfDocument: Any = pdfium.PdfDocument  # it has no types
_PDFIUM = Lock()  # the library may be used by one thread at a time
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")


def extract_pdf(body: bytes, url: str) -> Extracted:
    """The text of a PDF in paragraphs, with its title, author and date; `markdown` is "" when its
    pages are only pictures.

    Raises Unreadable when it is damaged or locked by a password.
    """
    try:
        with _PDFIUM, closing(_PdfDocument(body)) as document:
            about = document.get_metadata_dict()
            count = len(document)
            pages = list(_pages(document, min(count, MAX_PAGES)))
    except pdfium.PdfiumError as error:
        raise Unreadable(f"The PDF cannot be read: {str(error).strip(' .')[:100]}.") from None
    found = as_blocks(_without_running_heads(pages))
    first = found[0].lstrip("# ") if found else ""
    return Extracted(
        title=about.get("Title", "").strip() or (first if len(first) <= LONGEST_TITLE else ""),
        markdown=blocks([*found, not_shown(count - len(pages), "pages")]),
        author=about.get("Author", "").strip(),
        published_at=_date(about.get("CreationDate", "")),
        kind="pdf",
    )


def _pages(document: Any, count: int) -> Iterator[list[Line]]:
    """The first pages, as far as the time goes."""
    for number in range(count):
        yield _page(document, number)
        if time.monotonic() > reading_until():
            return


def _page(document: Any, number: int) -> list[Line]:
    with closing(document.get_page(number)) as page, closing(page.get_textpage()) as text_page:
        return in_order(with_tables(page, text_page, list(lines(text_page))))


def _without_running_heads(pages: list[list[Line]]) -> list[list[Line]]:
    """The pages without page numbers and without the first and last lines that many of them
    share.
    """
    edges = Counter(
        shape for page in pages if page for shape in {_shape(page[0]), _shape(page[-1])}
    )
    running = {shape for shape, count in edges.items() if count >= RUNNING or not shape}

    def kept(page: list[Line]) -> list[Line]:
        return [
            line for line in page if line not in (page[0], page[-1]) or _shape(line) not in running
        ]

    return [kept(page) or page for page in pages]


def _shape(line: Line) -> str:
    return re.sub(r"[\d\s]+", "", line.text or line.table)


def _date(text: str) -> datetime | None:
    """The date of PDF's D:YYYYMMDD…, or None."""
    found = _DATE.match(text)
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC) if found else None
    except ValueError:
        return None

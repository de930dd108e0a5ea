"""Convert PDF files to Markdown, reading scanned pages by OCR."""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, groupby, pairwise
from statistics import median
from threading import Lock
from typing import Any

import pypdfium2
import pypdfium2 as pdfium

from spadework.errors import Unreadable
from spadework.tools.extract.extracted import Extracted
from spadework.tools.extract.markdown_writer import (
    blocks,
    fence,
    item,
    not_shown,
    plain,
    write_heading,
)
from spadework.tools.extract.pdf.lines import BROKEN, FIGURE, Line, in_order, lines
from spadework.tools.extract.pdf.ocr import MAX_PIXELS, MEND, has_ocr, has_pillow, lines_in
from spadework.tools.extract.pdf.tables import CAPTION, with_aligned_tables, with_tables
from spadework.tools.extract.process import reading_until

_PDFIUM: Any = pypdfium2.raw  # pypdfium2's raw module has no types.
#: Pixels per PDF point when a page is rendered.
DOTS = 200 / 72
#: A page with text counts as scanned if it has at most FEW_LETTERS characters, and one picture
#: covers at least the fraction MOST_OF_PAGE of the page.
FEW_LETTERS, MOST_OF_PAGE = 150, 0.5
#: If a scanned line's font size differs from its page's median font size by less than this fraction
#: of the median, the line gets the median size.
ALIKE = 0.35


def is_scan(page: Any, lines: list[Line]) -> bool:
    """Return whether a page with these `lines` is probably a picture of text."""
    if not lines:
        return next(iter(page.get_objects(max_depth=1)), None) is not None
    if sum(len(line.text or line.table) for line in lines) > FEW_LETTERS:
        return False
    width, height = page.get_size()
    pictures = page.get_objects(filter=[_PDFIUM.FPDF_PAGEOBJ_IMAGE], max_depth=3)
    boxes = (picture.get_bounds() for picture in pictures)
    return any(
        (right - left) * (top - bottom) >= MOST_OF_PAGE * width * height
        for left, bottom, right, top in boxes
    )


def scan_page(page: Any) -> list[Line] | None:
    """Read a page by OCR. Return [] if it is blank, None if OCR is unavailable or finds no text."""
    if not has_pillow():
        return None
    width, height = page.get_size()
    dots = min(DOTS, math.sqrt(MAX_PIXELS / max(width * height, 1.0)))
    image = page.render(scale=dots, grayscale=True).to_pil()
    if image.getextrema()[0] == image.getextrema()[1]:
        return []
    lines: list[Line] = []
    for _, group in groupby(lines_in(image), key=lambda line: line.paragraph):
        found = list(group)
        size = median(line.bottom - line.top for line in found) / dots
        for line in found:
            text, bottom = _mark_broken(line.text), height - line.bottom / dots
            lines.append(Line(text, line.left / dots, line.right / dots, bottom, size))
    return _of_few_sizes(lines) or None


def _mark_broken(text: str) -> str:
    return text[:-1] + BROKEN if text.endswith("-") and text[-2:-1].isalpha() else text


def _of_few_sizes(lines: list[Line]) -> list[Line]:
    usual = median(line.size for line in lines) if lines else 0.0
    return [
        replace(line, size=usual) if abs(line.size - usual) < ALIKE * usual else line
        for line in lines
    ]


#: Minimum gap between paragraphs, relative to the larger of the usual line gap and the font size.
PARAGRAPH_GAP = 1.35
#: A line can end a paragraph if it is shorter than this fraction of the document's 90th-percentile
#: line length.
SHORT_LINE = 0.7
#: Minimum font size of a heading, relative to body text. The second value is for bold headings.
LARGER, SMALLER = 1.12, 0.97
#: Two headings have the same level if the smaller font size is at least this fraction of the larger
#: one.
SAME = 0.94
#: Maximum letters in a large heading, and in a bold heading of body-text size.
LONGEST, LONGEST_BOLD = 200, 100
#: Code lines that are more than this many line heights apart are separated by a blank line.
CODE_GAP = 1.9

_BULLETS = frozenset("•▪‣–*-")
_BULLET = re.compile(r"[•▪‣–*-]\s|\(?\d{1,2}[.)]\s|\[\d+\]")
#: Dots before a page number in a table of contents.
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\w+$")
#: A number at the start of a paragraph, followed by an escaped period or parenthesis.
_NUMBERED = re.compile(r"^(\d{1,2})\\([.)] )")
_WORD_BREAK = re.compile(rf"(\w+){BROKEN}(\w+)")


def as_blocks(pages: list[list[Line]]) -> list[str]:
    """Return a document's blocks as Markdown."""
    lines = [line for page in pages for line in page]
    paragraphs = _paragraphs(lines)
    body = _body_size(lines)
    sizes = _levels([group[0].size for group in paragraphs if _is_larger(group, body)])
    known = set(re.findall(r"\w+-\w+", " ".join(line.text for line in lines)))
    return _in_steps([_block(group, body, sizes, known) for group in paragraphs])


def _in_steps(made: list[str]) -> list[str]:
    numbers = [int(found[1]) if (found := _NUMBERED.match(text)) else -9 for text in made]
    around = zip([-9, *numbers], numbers, [*numbers[1:], -9], strict=False)
    return [
        _NUMBERED.sub(r"\1\2", text) if number in (before + 1, after - 1) else text
        for text, (before, number, after) in zip(made, around, strict=True)
    ]


def _body_size(lines: list[Line]) -> float:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[round(line.size * 2) / 2] += len(line.text)
    return max(sizes, key=lambda size: sizes[size], default=0.0)


def _levels(sizes: list[float]) -> list[float]:
    levels: list[float] = []
    for size in sorted(sizes, reverse=True):
        if not levels or size < levels[-1] * SAME:
            levels.append(size)
    return levels


def _paragraphs(lines: list[Line]) -> list[list[Line]]:
    gaps = [above.bottom - below.bottom for above, below in pairwise(lines)]
    gaps = [gap for gap in gaps if gap > 0]
    gap = median(gaps) * PARAGRAPH_GAP if gaps else 0.0
    lengths = sorted(len(line.text) for line in lines)
    short = lengths[len(lengths) * 9 // 10] * SHORT_LINE if lengths else 0.0
    groups = [[line] for line in lines[:1]]
    for above, below in pairwise(lines):
        code = above.fixed and below.fixed
        if not code and (_parts(above, below) or _begins(above, below, gap=gap, short=short)):
            groups.append([below])
        else:
            groups[-1].append(below)
    return groups


def _parts(above: Line, below: Line) -> bool:
    alike = SMALLER < below.size / max(above.size, 0.1) < 1 / SMALLER or above.text.endswith(BROKEN)
    return bool(above.table or below.table) or above.fixed != below.fixed or not alike


def _begins(above: Line, below: Line, *, gap: float, short: float) -> bool:
    """Return whether the line `below` starts a new paragraph."""
    if above.text.endswith(BROKEN):
        return False
    ended = len(above.text) < short and (above.text[-1] in ".!?:;)" or not below.text[0].islower())
    row = all(map(FIGURE.fullmatch, above.text.split()[-2:]))
    ended = ended or row or bool(_LEADERS.search(above.text))
    apart = above.bottom - below.bottom > max(gap, below.size * PARAGRAPH_GAP)
    return apart or ended or bool(_BULLET.match(below.text))


def _is_larger(group: list[Line], body: float) -> bool:
    line = group[0]
    size = line.size >= body * LARGER and sum(len(line.text) for line in group) <= LONGEST
    return size and not line.table and not line.fixed and not _LEADERS.search(group[-1].text)


def _block(group: list[Line], body: float, sizes: list[float], known: set[str]) -> str:
    first = group[0]
    if first.table:
        return first.table
    if first.fixed:
        return _code(group)
    text = _whole_words(group, known)
    if _is_larger(group, body) and any(sign.isalpha() for sign in text):
        levels = (level for level, size in enumerate(sizes, 1) if first.size >= size * SAME)
        return write_heading(text, next(levels))
    bold = all(line.bold for line in group) and first.size >= body * SMALLER
    short = len(text) <= LONGEST_BOLD and not text.endswith((".", ",", ";", ":"))
    if bold and short and not _LEADERS.search(text):
        return write_heading(text, 1 + len(sizes))
    mark, _, rest = text.partition(" ")
    return item(plain(rest)) if mark in _BULLETS else plain(text)


def _code(group: list[Line]) -> str:
    left = min(line.left for line in group)
    width = median((line.right - line.left) / max(len(line.text), 1) for line in group) or 1.0
    rows = []
    for above, line in zip([group[0], *group], group, strict=False):
        if above.bottom - line.bottom > CODE_GAP * line.size:
            rows.append("")
        indent = " " * min(round((line.left - left) / width), 200)
        rows.append(indent + line.text.replace(BROKEN, "-"))
    return fence("\n".join(rows))


def _whole_words(group: list[Line], known: set[str]) -> str:
    """Join lines, and words broken at line ends. Words in `known` keep their hyphens."""
    text = group[0].text
    for above, below in pairwise(group):
        text += ("" if above.text.endswith(BROKEN) else " ") + below.text

    def whole(broken: re.Match[str]) -> str:
        hyphened = f"{broken[1]}-{broken[2]}"
        return hyphened if hyphened in known else broken[1] + broken[2]

    return _WORD_BREAK.sub(whole, text).replace(BROKEN, "")


MAX_PAGES = 2_000
#: Minimum gap between the cells of a table without ruled lines, in letter heights.
CELL_GAP = 0.7
#: Minimum number of pages on which a line must recur to count as a running head.
RUNNING = 3
#: If the metadata has no title, the first block is used as the title if it has at most this many
#: characters.
LONGEST_TITLE = 150

_PdfDocument: Any = pdfium.PdfDocument  # PdfDocument has no types.
_READER_PDFIUM = Lock()  # pdfium allows only one thread at a time.
_DATE = re.compile(r"D:(\d{4})(\d\d)(\d\d)")


def extract_pdf(body: bytes, url: str) -> Extracted:
    """Return a PDF's metadata and text. If pages were not read, a note at the end says so. Raises
    Unreadable if the file is damaged, needs a password or contains no text.
    """
    try:
        with _READER_PDFIUM, closing(_PdfDocument(body)) as document:
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
        return Unreadable("The PDF contains no text.")
    if has_ocr():
        return Unreadable("The PDF has only pictures; no text was found in them in time.")
    return Unreadable(
        f"The PDF has only pictures; reading them needs Tesseract, which is not installed. {MEND}",
        hint=MEND,
    )


def _unread(pictures: int) -> str:
    what = "page is a picture" if pictures == 1 else "pages are pictures"
    return f"… {pictures:,} {what} without readable text." if pictures else ""


def _pages(document: Any, count: int) -> Iterator[list[Line] | None]:
    """Yield the lines of each page, or None for an unreadable page, until time is up."""
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
    found = list(lines(text_page))
    if not any(CAPTION.match(line[0].text) for line in found):
        return found
    return _wider(with_aligned_tables(list(lines(text_page, CELL_GAP))), found)


def _wider(cells: list[list[Line]], found: list[list[Line]]) -> list[list[Line]]:
    """Return `cells`, whose lines are split even at narrow gaps. Replace each line outside tables
    with the line of `found` at the same position, which is split only at wide gaps.
    """

    def place(line: list[Line]) -> tuple[float, float]:
        return line[0].left, line[0].bottom

    known = {place(line): line for line in found}
    return [line if line[0].table else known.get(place(line), line) for line in cells]


def _without_running_heads(pages: list[list[Line]]) -> list[list[Line]]:
    ends = ({_shape(page[0]), _shape(page[-1])} for page in pages if page)
    edges = Counter(chain.from_iterable(ends))
    running = {shape for shape, count in edges.items() if count >= RUNNING or not shape}

    def without_running_lines(page: list[Line]) -> list[Line]:
        edge = page[0], page[-1]
        return [line for line in page if line not in edge or _shape(line) not in running]

    return [without_running_lines(page) or page for page in pages]


def _shape(line: Line) -> str:
    return re.sub(r"[\d\s]+", "", line.text or line.table)


def _date(text: str) -> datetime | None:
    found = _DATE.match(text)
    try:
        return datetime(int(found[1]), int(found[2]), int(found[3]), tzinfo=UTC) if found else None
    except ValueError:
        return None

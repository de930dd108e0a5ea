"""Read a PDF page's lines in reading order, with positions and fonts."""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Any

import pypdfium2

from spadework.tools.extract.notation import Place, joined
from spadework.tools.extract.office.docx import is_fixed_font

#: The character with which pdfium marks a word broken at the end of a line.
BROKEN = "\ufffe"
#: Minimum gap between columns, in letter heights.
WIDE_GAP = 1.2
#: A gap between columns counts as a gutter only if at least this many lines have it at the same
#: position.
LEAST_LINES = 4
#: A gap counts as a gutter only if the texts beside it are long enough: in each line, the shorter
#: of the two is measured, and the median must be at least this many characters. Shorter texts are
#: table values.
LEAST_LETTERS = 20

#: A superscript or subscript is less than SMALL times as high as normal letters. It is offset
#: vertically by more than RISEN times their height.
SMALL, RISEN = 0.9, 0.08
#: Maximum gap, in letter heights, between a superscript or subscript and the text beside it
#: (SPACED), and between the letters of a word (SET_APART).
SPACED, SET_APART = 0.5, 0.15

_PDFIUM: Any = pypdfium2.raw  # pypdfium2's raw module has no types.
_Failed: Any = pypdfium2.PdfiumError
_LINE = re.compile(rf"[^\r\n{BROKEN}]+{BROKEN}?")
_ALL, _WORD = re.compile(r".+", re.DOTALL), re.compile(r"\S{2,}")
_SCRIPTED = re.compile(r"[\d\n]")
FIGURE = re.compile(r"[\d.,:;%()\[\]/+\-\u2013\u2212×$€£]+")
_SPACE = re.compile(r"\s+")
_FIXED_FLAG, _BOLD_WEIGHT, _NAME_BYTES = 1, 600, 100
_BOLD_NAME = re.compile(r"bold|black|heavy|cmbx", re.IGNORECASE)
_FIXED_NAME = re.compile(r"cmtt|typewriter", re.IGNORECASE)


@dataclass(frozen=True)
class Line:
    """A line of text in one column, or a table as Markdown in `table`. Positions are in points."""

    text: str
    left: float
    right: float
    bottom: float
    size: float
    bold: bool = False
    fixed: bool = False
    table: str = ""


def lines(text_page: Any, gap: float = WIDE_GAP) -> Iterator[list[Line]]:
    """Yield the parts of each line of a page, split at gaps wider than `gap` letter heights."""
    text = text_page.get_text_range()
    known = text_page.count_chars()
    for span in _whole_lines(text_page, text, known):
        parts = []
        for start, end in _parts(text_page, text, span, known, gap):
            line = _line(text_page, text[start:end], start, end)
            if line.text:
                parts.append(line)
        if parts:
            yield parts


def is_figure(text: str) -> bool:
    """Return whether text contains digits but no letters."""
    return any(map(str.isdigit, text)) and not any(map(str.isalpha, text))


def is_turned(text_page: Any) -> bool:
    """Return whether a page is rotated, judging by one letter."""
    angle = _PDFIUM.FPDFText_GetCharAngle(text_page, text_page.count_chars() // 2)
    return math.cos(angle) < SMALL


def words_of(text_page: Any) -> Iterator[list[Line]]:
    """Yield each line of a page as a list of its words."""
    return lines(text_page, -math.inf)


def _whole_lines(text_page: Any, text: str, known: int) -> Iterator[tuple[int, int]]:
    open_span: tuple[int, int] | None = None
    last: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    for found in _LINE.finditer(text):
        start, end = found.span()
        first = _box(text_page, start + len(found[0]) - len(found[0].lstrip()))
        if open_span and end <= known and _goes_on(last, first):
            open_span = open_span[0], end
        else:
            if open_span:
                yield open_span
            open_span = start, end
        last = _box(text_page, start + max(len(found[0].rstrip().rstrip(BROKEN)) - 1, 0))
    if open_span:
        yield open_span


def _goes_on(last: tuple[float, ...], first: tuple[float, ...]) -> bool:
    height, other = last[3] - last[1], first[3] - first[1]
    low, high = sorted((height, other))
    beside = -SET_APART * high <= first[0] - last[2] <= SPACED * high
    overlap = min(last[3], first[3]) - max(last[1], first[1])
    return 0 < low < SMALL * high and beside and overlap > low / 2


def _parts(
    text_page: Any, text: str, place: tuple[int, int], known: int, gap: float
) -> Iterator[tuple[int, int]]:
    start, end = place[0], min(place[1], known)
    while start < end and text[start].isspace():
        start += 1
    for space in _SPACE.finditer(text, start, end):
        if space.start() > start and space.end() < end:
            before, behind = _box(text_page, space.start() - 1), _box(text_page, space.end())
            least = max(gap, SET_APART) if "\n" in space[0] else gap
            if behind[0] - before[2] > least * max(behind[3] - behind[1], 1.0):
                yield start, space.start()
                start = space.end()
    if start < end:
        yield start, end


def _line(text_page: Any, text: str, start: int, end: int) -> Line:
    last = start + max(len(text.rstrip().rstrip(BROKEN)) - 1, 0)
    first_box, last_box = _box(text_page, start), _box(text_page, last)
    bold, fixed = _font(text_page, start)
    if last > start and (bold or fixed):
        bold_end, fixed_end = _font(text_page, last)
        bold, fixed = bold and bold_end, fixed and fixed_end
    usual = start + _letter(text)
    _, bottom, _, top = _box(text_page, usual)
    written = _with_scripts(text_page, text, start, usual) if _SCRIPTED.search(text) else text
    shown = " ".join(written.replace("\0", "").split())
    return Line(shown, first_box[0], last_box[2], bottom, top - bottom, bold, fixed)


def _with_scripts(text_page: Any, text: str, start: int, usual: int) -> str:
    pieces: list[tuple[str, Place]] = []
    broken = "\n" in text
    at = 0
    for found in (_ALL if broken else _WORD).finditer(text):
        if not (broken or _is_uneven(text_page, found[0], start + found.start())):
            continue
        pieces.append((text[at : found.start()], Place.LEVEL))
        for place in range(found.start(), found.end()):
            sign = text[place]
            if sign in "\r\n":
                spaced = sign == "\n" and _is_spaced(text_page, text, start, place)
                pieces.append((" " if spaced else "", Place.LEVEL))
            else:
                pieces.append((sign, _place(text_page, start + place, usual)))
        at = found.end()
    return joined([*pieces, (text[at:], Place.LEVEL)]) if pieces else text


def _is_uneven(text_page: Any, word: str, start: int) -> bool:
    digits = [place for place, sign in enumerate(word) if sign.isdigit()]
    if not digits or not FIGURE.fullmatch(word):
        return bool(digits)
    first, last = (_box(text_page, start + place) for place in (digits[0], digits[-1]))
    return abs((last[3] - last[1]) / max(first[3] - first[1], 0.1) - 1) > 1 - SMALL


def _is_spaced(text_page: Any, text: str, start: int, place: int) -> bool:
    before = len(text[:place].rstrip()) - 1
    behind = place + len(text[place:]) - len(text[place:].lstrip())
    left, right = _box(text_page, start + before), _box(text_page, start + behind)
    return right[0] - left[2] > SET_APART * max(left[3] - left[1], right[3] - right[1])


def _place(text_page: Any, at: int, usual: int) -> Place:
    own, other = _box(text_page, at), _box(text_page, usual)
    height = other[3] - other[1]
    rise = _baseline(text_page, at) - _baseline(text_page, usual)
    if own[3] - own[1] >= SMALL * height or not RISEN * height < abs(rise) < height:
        return Place.LEVEL
    return Place.RAISED if rise > 0 else Place.LOWERED


def _baseline(text_page: Any, place: int) -> float:
    index = max(_PDFIUM.FPDFText_GetCharIndexFromTextIndex(text_page, place), 0)
    x, y = ctypes.c_double(), ctypes.c_double()
    _PDFIUM.FPDFText_GetCharOrigin(text_page, index, x, y)
    return y.value


def _letter(text: str) -> int:
    """Return the index of the middle letter (0 if none). Skip punctuation: its font can differ."""
    letters = [place for place, sign in enumerate(text) if sign.isalpha()]
    return letters[len(letters) // 2] if letters else 0


def _box(text_page: Any, place: int) -> tuple[float, float, float, float]:
    index = _PDFIUM.FPDFText_GetCharIndexFromTextIndex(text_page, place)
    box = _PDFIUM.FS_RECTF()
    if not _PDFIUM.FPDFText_GetLooseCharBox(text_page, max(index, 0), box):
        raise _Failed("Failed to get the box of a letter.")
    return box.left, box.bottom, box.right, box.top


def _font(text_page: Any, place: int) -> tuple[bool, bool]:
    index = max(_PDFIUM.FPDFText_GetCharIndexFromTextIndex(text_page, place), 0)
    buffer, flags = ctypes.create_string_buffer(_NAME_BYTES), ctypes.c_int()
    _PDFIUM.FPDFText_GetFontInfo(text_page, index, buffer, _NAME_BYTES, flags)
    name = buffer.value.decode("utf-8", "replace")
    bold = _PDFIUM.FPDFText_GetFontWeight(text_page, index) >= _BOLD_WEIGHT or bool(
        _BOLD_NAME.search(name)
    )
    return bold, bool(flags.value & _FIXED_FLAG) or is_fixed_font(name) or bool(
        _FIXED_NAME.search(name)
    )


def in_order(lines: list[list[Line]]) -> list[Line]:
    """Return a page's lines in reading order, column by column."""
    gutter = _gutter([line for line in lines if len(line) > 1])
    if gutter is None:
        return [_join_lines(line) for line in lines]
    return list(_by_columns(lines, gutter))


def _gutter(parted: list[list[Line]]) -> float | None:
    gaps = [(left.right, right.left) for line in parted for left, right in pairwise(line)]
    if len(gaps) < LEAST_LINES:
        return None
    open_gaps = [(start, end) for start, end in gaps if start < end]
    starts, ends = sorted(start for start, _ in open_gaps), sorted(end for _, end in open_gaps)
    middles = ((start + end) / 2 for start, end in gaps)
    place = max(middles, key=lambda x: bisect_left(starts, x) - bisect_right(ends, x))
    pairs = (pair for line in parted for pair in pairwise(line))
    sides = [(left, right) for left, right in pairs if left.right < place < right.left]
    if len(sides) < max(LEAST_LINES, len(parted) // 2):
        return None
    shorter = median(min(len(left.text), len(right.text)) for left, right in sides)
    return place if shorter >= LEAST_LETTERS else None


def _by_columns(lines: list[list[Line]], gutter: float) -> Iterator[Line]:
    left: list[Line] = []
    right: list[Line] = []
    for line in lines:
        before = [part for part in line if part.right <= gutter]
        behind = [part for part in line if part.left >= gutter]
        if len(before) + len(behind) == len(line):
            left += [_join_lines(before)] if before else []
            right += [_join_lines(behind)] if behind else []
        else:
            yield from (*left, *right, _join_lines(line))
            left, right = [], []
    yield from (*left, *right)


def _join_lines(parts: list[Line]) -> Line:
    if len(parts) == 1:
        return parts[0]
    text = " ".join(part.text for part in parts)
    bold, fixed = all(part.bold for part in parts), all(part.fixed for part in parts)
    return replace(parts[0], text=text, right=parts[-1].right, bold=bold, fixed=fixed)

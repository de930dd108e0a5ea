"""The pages of a PDF that are pictures of pages: shown as an image, and read from it."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from statistics import median
from typing import Any

import pypdfium2

from spadework.tools.extract.pdf.lines import BROKEN, Line
from spadework.tools.extract.pdf.ocr import MAX_PIXELS, has_pillow, lines_in

_PDFIUM: Any = pypdfium2.raw  # it has no types
#: A page is shown with so many dots for each of its points, of which an inch has 72.
DOTS = 200 / 72
#: A page with so few letters is a picture with a stamp on it, if a picture covers so much of it.
FEW_LETTERS, MOST_OF_PAGE = 150, 0.5
#: Lines whose letters differ by less than this from those of most are of the same size.
ALIKE = 0.35


def is_scan(page: Any, lines: list[Line]) -> bool:
    """Has a page its words, if any, in a picture?"""
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
    """The lines in the picture of a page, none for an empty one; None where nothing was read."""
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
    """A line whose last word goes on in the next one, with the sign of that."""
    return text[:-1] + BROKEN if text.endswith("-") and text[-2:-1].isalpha() else text


def _of_few_sizes(lines: list[Line]) -> list[Line]:
    """The lines, those of nearly the usual size as of that: a scan has letters of any."""
    usual = median(line.size for line in lines) if lines else 0.0
    return [
        replace(line, size=usual) if abs(line.size - usual) < ALIKE * usual else line
        for line in lines
    ]

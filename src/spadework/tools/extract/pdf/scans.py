"""Scanned pages of a PDF: rendered and read by OCR."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import groupby
from statistics import median
from typing import Any

import pypdfium2

from spadework.tools.extract.pdf.lines import BROKEN, Line
from spadework.tools.extract.pdf.ocr import MAX_PIXELS, has_pillow, lines_in

_PDFIUM: Any = pypdfium2.raw  # has no types
#: Dots rendered per point (1/72 inch).
DOTS = 200 / 72
#: A page with at most this many letters and this share covered by a picture is a scan, perhaps
#: stamped.
FEW_LETTERS, MOST_OF_PAGE = 150, 0.5
#: Lines whose size differs by less than this share from the usual have the usual size.
ALIKE = 0.35


def is_scan(page: Any, lines: list[Line]) -> bool:
    """Return whether a page's text, if any, is in a picture."""
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
    """Return the lines in a page's picture, [] if it is empty, None if nothing was read."""
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
    """Replace a hyphen at the end of a line by the sign for a broken word."""
    return text[:-1] + BROKEN if text.endswith("-") and text[-2:-1].isalpha() else text


def _of_few_sizes(lines: list[Line]) -> list[Line]:
    """Return the lines with nearly usual sizes made equal, as scanned sizes vary."""
    usual = median(line.size for line in lines) if lines else 0.0
    return [
        replace(line, size=usual) if abs(line.size - usual) < ALIKE * usual else line
        for line in lines
    ]

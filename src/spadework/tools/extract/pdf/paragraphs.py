"""A PDF's lines as Markdown: paragraphs, headings by size, lists, code and tables."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from statistics import median

from spadework.tools.extract.markdown_writer import fence, heading, item, plain
from spadework.tools.extract.pdf.lines import BROKEN, Line

#: A gap over this many usual line gaps starts a paragraph.
PARAGRAPH_GAP = 1.35
#: A line under this share of the long lines' length ends a paragraph.
SHORT_LINE = 0.7
#: Headings are at least this much larger than the text, and never this much smaller.
LARGER, SMALLER = 1.12, 0.97
#: Headings share a level when the smaller has at least this share of the larger's size.
SAME = 0.94
#: Maximum letters of a heading, and of one that is only bold.
LONGEST, LONGEST_BOLD = 200, 100
#: Code lines further apart than this many heights have a blank line between them.
CODE_GAP = 1.9

_BULLETS = frozenset("•▪‣–*-")
_BULLET = re.compile(r"[•▪‣–*-]\s|\(?\d{1,2}[.)]\s|\[\d+\]")
#: Dot leaders of a table of contents.
_LEADERS = re.compile(r"(?:\.\s?){4,}\s*\w+$")
#: A number at the start of a paragraph, escaped so that Markdown makes no list of it.
_NUMBERED = re.compile(r"^(\d{1,2})\\([.)] )")
_WORD_BREAK = re.compile(rf"(\w+){BROKEN}(\w+)")


def as_blocks(pages: list[list[Line]]) -> list[str]:
    """Return a document's blocks."""
    lines = [line for page in pages for line in page]
    paragraphs = _paragraphs(lines)
    body = _body_size(lines)
    sizes = _levels([group[0].size for group in paragraphs if _is_larger(group, body)])
    known = set(re.findall(r"\w+-\w+", " ".join(line.text for line in lines)))
    return _in_steps([_block(group, body, sizes, known) for group in paragraphs])


def _in_steps(made: list[str]) -> list[str]:
    """Return the blocks with consecutively numbered ones as list items."""
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
    """Return the sizes of heading levels, largest first; nearly equal ones are merged."""
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
    """Return whether two lines, unless both are code, are of different kinds."""
    alike = SMALLER < below.size / max(above.size, 0.1) < 1 / SMALLER or above.text.endswith(BROKEN)
    return bool(above.table or below.table) or above.fixed != below.fixed or not alike


def _begins(above: Line, below: Line, *, gap: float, short: float) -> bool:
    """Return whether a paragraph starts with `below`; if it is higher, a column or page has
    ended.
    """
    if above.text.endswith(BROKEN):
        return False
    ended = len(above.text) < short and (above.text[-1] in ".!?:;)" or not below.text[0].islower())
    ended = ended or bool(_LEADERS.search(above.text))
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
        return heading(text, next(levels))
    bold = all(line.bold for line in group) and first.size >= body * SMALLER
    short = len(text) <= LONGEST_BOLD and not text.endswith((".", ",", ";", ":"))
    if bold and short and not _LEADERS.search(text):
        return heading(text, 1 + len(sizes))
    mark, _, rest = text.partition(" ")
    return item(plain(rest)) if mark in _BULLETS else plain(text)


def _code(group: list[Line]) -> str:
    """Return fixed-width lines with their indentation, which a PDF stores only as a position."""
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
    """Return the text with broken words joined; a hyphen stays in words hyphenated elsewhere."""
    text = group[0].text
    for above, below in pairwise(group):
        text += ("" if above.text.endswith(BROKEN) else " ") + below.text

    def whole(broken: re.Match[str]) -> str:
        hyphened = f"{broken[1]}-{broken[2]}"
        return hyphened if hyphened in known else broken[1] + broken[2]

    return _WORD_BREAK.sub(whole, text).replace(BROKEN, "")

"""Cut Markdown into passages at headings and blocks. Offsets count code points."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spadework.tools.text.markdown import Block, Inline, blocks, plain, scan
from spadework.tools.text.sentences import is_term, leads, sentences
from spadework.visible import one_line

__all__ = ["Block", "blocks", "cut", "heading_at", "headings", "paths", "pieces"]

Heading = tuple[int, int, str]
Path = tuple[int, str]

#: Points where a long block may be cut, best first.
_BREAKS = (
    re.compile(r"\n"),
    re.compile(r"[.!?\u3002\uff01\uff1f]['\")\]*_]*\s"),
    re.compile(r"\s"),
)
#: A question of more than LONG characters is not used as a heading. It is shortened to a title of
#: at most MOST_CHARS characters.
LONG, MOST_CHARS = 200, 100


def cut(markdown: str, max_chars: int = 1500) -> list[tuple[int, int]]:
    """Cut Markdown into passages, and return their (start, end) offsets. Headings and other lines
    that introduce a text stay with it. Only code and tables may exceed `max_chars`.
    """
    passages: list[tuple[int, int]] = []
    start = end = 0
    # `lead` is the start of a heading or term that might open the next passage, or -1 if there is
    # none. `before` is the end of the text above that heading or term.
    lead, before, only_headings = -1, 0, True
    for block in blocks(markdown):
        heading = block.kind == "heading"
        held = heading or _introduces(markdown, block)
        for piece in pieces(markdown, block, max_chars, block.start - lead if lead >= 0 else 0):
            if end and lead > start and piece[1] - start > max_chars:
                passages.append((start, before))
                start = lead
            if end and (piece[1] - start > max_chars or (heading and not only_headings)):
                passages.append((start, end))
                end = 0
            if not end:
                start, lead, only_headings = piece[0], -1, True
            if held and lead < 0:
                lead, before = piece[0], end
            end = piece[1]
            only_headings = only_headings and heading
        lead = lead if held else -1
    return [*passages, (start, end)] if end else passages


def _introduces(markdown: str, block: Block) -> bool:
    paragraph = block.kind == "paragraph"
    return is_term(markdown, block) or (paragraph and leads(markdown[block.start : block.end]))


def pieces(markdown: str, block: Block, most: int, taken: int = 0) -> Iterator[tuple[int, int]]:
    """Split a block into pieces of at most `most` characters, and yield their spans. Code and
    tables stay whole. The limit for the first piece is lower by `taken`, unless `taken` is more
    than half of `most`.
    """
    start, end = block.start, block.end
    room = most - taken if taken <= most // 2 else most
    while end - start > room and block.kind not in ("code", "table"):
        stop = _break(markdown, start, start + room)
        text = markdown[start:stop].rstrip()
        if text:
            yield start, start + len(text)
        start, room = stop, most
        while start < end and markdown[start].isspace():
            start += 1
    if start < end:
        yield start, end


def _break(markdown: str, start: int, stop: int) -> int:
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(markdown, (start + stop) // 2, stop)]
        if ends:
            return ends[-1]
    return stop


def headings(markdown: str) -> list[Heading]:
    """Return all headings as (offset, level 1–6, readable text)."""
    found = []
    for block in blocks(markdown):
        if block.kind == "heading":
            level, text = _parse_heading(markdown[block.start : block.end])
            found.append((block.start, level, " ".join(plain(text).split())))
    return found


def _parse_heading(text: str) -> tuple[int, str]:
    text = text.strip()
    rest = text.lstrip("#")
    if len(rest) < len(text) and "\n" not in text:
        return len(text) - len(rest), re.sub(r"(?:^|\s)#+$", "", rest.strip())
    above, _, line = text.rpartition("\n")
    return 1 if line.strip().startswith("=") else 2, above


def paths(headings: Iterable[Heading]) -> list[Path]:
    """Return each heading's start offset and path ("Install > Linux")."""
    found, path = [], list[Heading]()
    for heading in headings:
        while path and path[-1][1] >= heading[1]:
            path.pop()
        path.append(heading)
        found.append((heading[0], " > ".join(text for _, _, text in path if text)))
    return found


def heading_at(paths: Sequence[Path], offset: int) -> str:
    """Return the heading path at an offset, or "" before the first heading."""
    after = bisect_right(paths, offset, key=lambda path: path[0])
    return paths[after - 1][1] if after else ""


def is_long(question: str) -> bool:
    """Return whether a question is too long for a heading."""
    return len(question) > LONG or "\n" in question.strip()


def shorten_question(question: str) -> str:
    """Return a question's first sentence, cut after a word if it is too long."""
    text = question.strip()
    first = next((text[start:end] for start, end in sentences(text)), text)
    line = " ".join(first.split()).rstrip(" ,;:")
    if len(line) <= MOST_CHARS:
        return line
    return one_line(line[:MOST_CHARS].rpartition(" ")[0].rstrip(" ,;:") or line[:MOST_CHARS]) + "…"


def without_targets(markdown: str, marks: Mapping[int, str] | None = None) -> str:
    """Return the text excluding link targets and images, with `marks` inserted at their offsets."""
    put, size = sorted((marks or {}).items()), len(markdown)
    kept, at = [], 0
    for start, end in [*_targets(markdown, scan(markdown)), (size, size)]:
        if start < at:
            continue
        for place, mark in put:
            if at <= place <= start:
                kept += [markdown[at:place], mark]
                at = place
        kept.append(markdown[at:start])
        at = end
    return "".join(kept)


def _targets(markdown: str, inline: Inline) -> list[tuple[int, int]]:
    cut: list[tuple[int, int]] = []
    for pair in inline.pairs:
        if markdown.startswith("![", pair.start):
            cut.append((pair.start, pair.end))
        elif markdown[pair.start] == "[":
            cut += [(pair.start, pair.inner_start), (pair.inner_end, pair.end)]
    return sorted(cut)

"""Titles of questions, and pages as a model is shown them."""

from __future__ import annotations

from collections.abc import Mapping

from spadework.tools.text.markdown import Inline, one_line, scan
from spadework.tools.text.sentences import sentences

#: Most characters of a question that stands above a report, and of a title cut from a longer.
LONG, MOST_CHARS = 200, 100


def is_long(question: str) -> bool:
    """Whether a question has so many characters, or several lines."""
    return len(question) > LONG or "\n" in question.strip()


def shorten_question(question: str) -> str:
    """The first sentence of a question, or its beginning cut at a word."""
    text = question.strip()
    first = next((text[start:end] for start, end in sentences(text)), text)
    line = " ".join(first.split()).rstrip(" ,;:")
    if len(line) <= MOST_CHARS:
        return line
    return one_line(line[:MOST_CHARS].rpartition(" ")[0].rstrip(" ,;:") or line[:MOST_CHARS]) + "…"


def without_targets(markdown: str, marks: Mapping[int, str] | None = None) -> str:
    """The text with the words of its links and without their targets, and without pictures.
    `marks` are put in before the characters at these offsets, where these are shown.
    """
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

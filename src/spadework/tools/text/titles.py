"""Shorten questions to titles, and strip link targets from pages shown to a model."""

from __future__ import annotations

from collections.abc import Mapping

from spadework.tools.text.markdown import Inline, scan
from spadework.tools.text.sentences import sentences
from spadework.visible import one_line

#: Maximum characters of a question used as a heading, and of a shortened title.
LONG, MOST_CHARS = 200, 100


def is_long(question: str) -> bool:
    """Return whether a question has several lines or is too long for a heading."""
    return len(question) > LONG or "\n" in question.strip()


def shorten_question(question: str) -> str:
    """Return a question's first sentence, cut at a word if it is long."""
    text = question.strip()
    first = next((text[start:end] for start, end in sentences(text)), text)
    line = " ".join(first.split()).rstrip(" ,;:")
    if len(line) <= MOST_CHARS:
        return line
    return one_line(line[:MOST_CHARS].rpartition(" ")[0].rstrip(" ,;:") or line[:MOST_CHARS]) + "…"


def without_targets(markdown: str, marks: Mapping[int, str] | None = None) -> str:
    """Return the text without link targets and images, keeping link texts.

    `marks` are inserted at their offsets.
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

"""Pages as a model is shown them: without the targets of links, with the marks by which it names
what it quotes. What is shown is for reading alone; what is quoted stands in the text as it is
stored.
"""

from __future__ import annotations

from collections.abc import Mapping

from spadework.tools.text.markdown_marks import Inline, scan


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

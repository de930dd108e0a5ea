"""Pages as a model is shown them: without the targets of links. What is shown is for reading alone;
a quote of it is located in the text as it is stored.
"""

from __future__ import annotations

from spadework.tools.inline import Inline, scan


def without_targets(markdown: str) -> str:
    """The text with the words of its links and without their targets, and without pictures."""
    kept, at = [], 0
    for start, end in _targets(markdown, scan(markdown)):
        if start >= at:
            kept.append(markdown[at:start])
            at = end
    return "".join([*kept, markdown[at:]])


def _targets(markdown: str, inline: Inline) -> list[tuple[int, int]]:
    cut: list[tuple[int, int]] = []
    for pair in inline.pairs:
        if markdown.startswith("![", pair.start):
            cut.append((pair.start, pair.end))
        elif markdown[pair.start] == "[":
            cut += [(pair.start, pair.inner_start), (pair.inner_end, pair.end)]
    return sorted(cut)

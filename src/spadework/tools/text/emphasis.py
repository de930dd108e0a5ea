"""Which words of a Markdown text are emphasised, and how strongly."""

from __future__ import annotations

import string
from typing import Literal, NamedTuple

from spadework.tools.text.markdown_marks import Inline, Pair

Strength = Literal["em", "strong"]

_MEANT: dict[str, Strength] = {"*": "em", "_": "em", "**": "strong", "__": "strong"}
#: The mark of each.
MARKS: dict[Strength, str] = {"em": "*", "strong": "**"}
#: What may stand around emphasis beside white space, and at its ends beside letters and digits:
#: behind and before these every reader of Markdown takes the marks for marks.
_AROUND = frozenset(string.punctuation) - frozenset("*_~`\\") | frozenset("“”‘’„«»–—…")
_INSIDE = _AROUND | {"`"}


class Emphasis(NamedTuple):
    """An opening mark `start:inner_start`, its closing mark `inner_end:end`, and what they mean."""

    start: int
    inner_start: int
    inner_end: int
    end: int
    strength: Strength


def emphases(text: str, found: Inline) -> list[Emphasis]:
    """The emphasis, in order, that every reader sees: in no other, and beside no hidden mark."""
    ticks = {edge for span in found.code for edge in span}
    shown = [mark for mark in found.marks if not ticks & {mark.start, mark.end}]
    ends = {mark.end for mark in found.marks}
    begins = {mark.start for mark in found.marks}
    within = {mark.start for mark in shown}, {mark.end for mark in shown}
    kept: list[Emphasis] = []
    for pair in sorted(found.pairs):
        strength = _MEANT.get(text[pair.start : pair.inner_start])
        beside = pair.start in ends or pair.end in begins
        beside = beside or pair.inner_start in within[0] or pair.inner_end in within[1]
        apart = not beside and (not kept or pair.start > kept[-1].end)
        if strength and apart and _clear(text, pair):
            kept.append(Emphasis(*pair, strength))
    return kept


def _clear(text: str, pair: Pair) -> bool:
    """Whether the marks of a pair are marks whoever reads them."""
    before, after = text[max(0, pair.start - 1) : pair.start], text[pair.end : pair.end + 1]
    first, last = text[pair.inner_start], text[pair.inner_end - 1]
    apart = all(not one or one.isspace() or one in _AROUND for one in (before, after))
    within = all(one.isalnum() or one in _INSIDE for one in (first, last))
    return pair.inner_start < pair.inner_end and apart and within

"""Which words of a Markdown text are emphasised, and how strongly."""

from __future__ import annotations

from typing import Literal, NamedTuple

from spadework.tools.inline import Inline, Pair

Strength = Literal["em", "strong"]


_MEANT: dict[str, Strength] = {"*": "em", "_": "em", "**": "strong", "__": "strong"}
#: The mark of each.
MARKS: dict[Strength, str] = {"em": "*", "strong": "**"}


class Emphasis(NamedTuple):
    """An opening mark `start:inner_start`, its closing mark `inner_end:end`, and what they mean."""

    start: int
    inner_start: int
    inner_end: int
    end: int
    strength: Strength


def emphases(text: str, found: Inline) -> list[Emphasis]:
    """The emphasis in a text, in order. What stands within another, or touches it, is none: marks
    that stand side by side are read in more than one way.
    """
    kept: list[Emphasis] = []
    for pair in sorted(found.pairs):
        strength = _strength(text, pair)
        apart = not kept or pair.start > kept[-1].end
        if strength and apart and pair.inner_start < pair.inner_end:
            kept.append(Emphasis(*pair, strength))
    return kept


def _strength(text: str, pair: Pair) -> Strength | None:
    """What the marks of a pair mean; None for those of links and code."""
    return _MEANT.get(text[pair.start : pair.inner_start])

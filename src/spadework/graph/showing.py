"""Showing: what the assessor of a topic is shown of the pages, in the tokens there are for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from spadework.agents.shown import Shown
from spadework.tools.tokens import count


def room_of(topics: int, most: int, together: int) -> int:
    """Tokens of pages that each of some topics may show: `most`, and `together` all of them no
    more.
    """
    return min(most, together // max(1, topics))


def fitting(parts: Sequence[Shown], room: int) -> list[Shown]:
    """The first of what is shown, in `room` tokens."""
    used = accumulate(count(part.text) for part in parts)
    return [part for part, sum_ in zip(parts, used, strict=True) if sum_ <= room]

"""Showing: what the assessor of a topic is shown of the pages, in the tokens there are for it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple

from spadework.agents.llm.client import Model
from spadework.agents.passage_view import Judgement, PassageView
from spadework.tools.text.tokens import count
from spadework.values import Evidence, Passage, Problem

#: Share of its time in which a slow model reads, the rest being for its answer; the least it reads.
READING_SHARE, LEAST_ROOM = 0.5, 1_000


class Looked(NamedTuple):
    """What a look at the pages of a round brought: a judgement for each topic in their order, the
    new entries of the ledger, the passages that were shown, and what went wrong.
    """

    judgements: list[Judgement]
    added: list[Evidence]
    shown: list[Passage]
    problems: list[Problem]


async def readable(model: Model, room: int, seconds: float, share: int = 1) -> int:
    """Of so many tokens those that the model reads in its time, which `share` calls share."""
    speed = await model.speed("assessor")
    most = int(READING_SHARE * seconds * speed / max(1, share)) if speed else room
    return max(LEAST_ROOM, min(room, most))


def room_of(topics: int, most: int, together: int) -> int:
    """Tokens of pages that each of some topics may show: `most`, all of them `together` no more."""
    return min(most, together // max(1, topics))


def fitting(parts: Sequence[PassageView], room: int) -> list[PassageView]:
    """The first of what is shown, in `room` tokens."""
    used = accumulate(count(part.text) for part in parts)
    return [part for part, sum_ in zip(parts, used, strict=True) if sum_ <= room]

"""Showing: what the assessor of a topic is shown of the pages, in the tokens there are for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spadework.agents.shown import Shown, to_people
from spadework.graph.distilling import shown
from spadework.tools.tokens import count
from spadework.tools.window import Stretch, windowed
from spadework.values import Page, Passage


def room_of(topics: int, most: int, together: int) -> int:
    """Tokens of pages that each of some topics may show: `most`, and `together` all of them no
    more.
    """
    return min(most, together // max(1, topics))


def in_window(
    passages: Sequence[Passage], pages: Mapping[str, Page], texts: Mapping[str, str], room: int
) -> list[Shown]:
    """The sections around the best of `passages`, best first, in `room` tokens, without what speaks
    to machines. Pages and texts are given by content hash.
    """
    places = [Stretch(p.content_hash, p.start, p.end) for p in passages]
    return [
        part
        for place in windowed(places, texts, room, count)
        for part in to_people(
            shown(pages[place.content_hash], texts[place.content_hash], _passage(place, passages))
        )
    ]


def _passage(place: Stretch, passages: Sequence[Passage]) -> Passage:
    """A stretch as a passage, with the score of the best one in it."""
    inside = [
        p
        for p in passages
        if p.content_hash == place.content_hash and p.start < place.end and place.start < p.end
    ]
    topic = passages[0].topic
    return Passage(
        content_hash=place.content_hash,
        start=place.start,
        end=place.end,
        score=max((p.score for p in inside), default=0.0),
        topic=topic,
    )

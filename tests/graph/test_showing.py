"""How much the assessor of a topic is shown of the pages."""

from __future__ import annotations

from datetime import UTC, datetime

from spadework.agents.evidence.passages import PassageView
from spadework.graph.nodes.distil import first_within, room_of
from spadework.settings import Settings
from spadework.values import Page

PAGE = Page(
    url="https://a.example/guide",
    fetched_at=datetime(2026, 3, 4, tzinfo=UTC),
    content_hash="h",
    chars=100,
)


def test_the_first_passages_are_shown_for_which_there_is_room() -> None:
    parts = [PassageView(PAGE, n, "Turn the wheel slowly. " * 10) for n in range(3)]
    assert first_within(parts, 1_000) == parts
    assert first_within(parts, 110) == parts[:2]
    assert first_within(parts, 3) == []


def test_topics_share_the_tokens_of_a_round() -> None:
    settings = Settings(effort="deep")
    assert room_of(2, settings) == 24_000
    assert room_of(16, settings) == 12_500

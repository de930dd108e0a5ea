"""What chat clients ask of a model beside questions leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

from spadework.agents.receptionist import chore_of, receive_message
from spadework.values import Visible
from tests.agents.test_model import asking
from tests.world.model import Model

TITLE = 'Give a title, JSON only: {"title": "…"}. User: What is a spade?\n\nAssistant: A tool.'


async def test_a_thousand_titles_need_no_more_memory_than_one(model: Model, tmp_path: Path) -> None:
    model.script("", {"title": "Spades"})
    async with asking(model, tmp_path) as (client, _):

        async def ask(n: int) -> str:
            said = f"{TITLE} ({n})"
            return (await receive_message(said, chore_of(said), client, seconds=60)).answer

        assert await ask(0) == '{"title": "Spades"}'
        known = len(Visible.__subclasses__())
        assert await ask(1) == '{"title": "Spades"}'
    assert len(Visible.__subclasses__()) == known

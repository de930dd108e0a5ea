"""A model that is known to be slow before a run begins."""

from __future__ import annotations

from pydantic import BaseModel

from spadework.agents.llm.client import Model as Client
from spadework.budget import Budget
from spadework.prompts import Prompt
from spadework.settings import Settings
from spadework.tools.stores.journal import Journal
from tests.world.model import Model


class Verse(BaseModel):
    """A line of verse."""

    words: str
    feet: int


async def known_as_slow(model: Model, settings: Settings) -> None:
    """Ask the model for a line of verse, which takes it a second; what it is asked after that comes
    at once. A run whose plan is kept has then measured nothing else before its pages are read.
    """
    model.requests.clear()
    model.script("Verse", {"words": "the sea is calm tonight", "feet": 3})
    model.delay = 1.0
    journal = await Journal.open(settings.home / "other.sqlite", Budget())
    client = Client(settings, Budget(), journal)
    await client.ask("lead", Prompt("You write verse.", "One line."), Verse, seconds=10)
    await client.close()
    await journal.close()
    model.delay = 0.0

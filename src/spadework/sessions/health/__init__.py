"""Health checks of everything that a run uses."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spadework.agents.llm.probe import NO_MODEL, offered_models
from spadework.backend import backend_of
from spadework.sessions.health.check import Check, embeddings, home, knowledge, system
from spadework.sessions.health.service_checks import browser, check_search, models
from spadework.settings import Settings

__all__ = ["COSTS", "NO_MODEL", "Check", "offered_models", "probe"]

#: The notice about costs, shown before a check.
COSTS = (
    "The checks ask each configured model for one word, send one query to each search provider,"
    " and fetch one page."
)


async def _database(settings: Settings) -> list[Check]:
    return await backend_of(settings).database(settings)


_PARTS = (system, home, _database, models, check_search, browser, knowledge, embeddings)


async def probe(settings: Settings) -> list[Check]:
    """Run all checks at once, each for at most HEALTH_SECONDS, and return them in a fixed order."""
    found: Sequence[list[Check]] = await asyncio.gather(*(part(settings) for part in _PARTS))
    return [check for checks in found for check in checks]

"""Health checks: everything a run of these settings uses is tried once, concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spadework.backend import backend_of
from spadework.sessions.health.check import Check
from spadework.sessions.health.machine_check import embeddings, home, knowledge, system
from spadework.sessions.health.model_check import models
from spadework.sessions.health.page_check import browser
from spadework.sessions.health.search_check import check_search
from spadework.settings import Settings

__all__ = ["COSTS", "Check", "probe"]

#: Costs of a check, for the user who starts one.
COSTS = (
    "Each model that is set is asked for one word, each search provider once, and one page is"
    " fetched."
)


async def _database(settings: Settings) -> list[Check]:
    return await backend_of(settings).database(settings)


_PARTS = (system, home, _database, models, check_search, browser, knowledge, embeddings)


async def probe(settings: Settings) -> list[Check]:
    """Return all findings in a fixed order, each within `health_seconds`."""
    found: Sequence[list[Check]] = await asyncio.gather(*(part(settings) for part in _PARTS))
    return [check for checks in found for check in checks]

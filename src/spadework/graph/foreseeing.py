"""Hits weighed, before they are fetched, by how hard their pages will be to have and to read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spadework.graph.session_context import SessionContext
from spadework.tools.extract.expected_type import SLOW, foreseen
from spadework.tools.ranking.selection import ENOUGH, LOCAL
from spadework.values import Hit, Task

#: The level from which on a page is gone after in a browser.
BROWSER = 2


async def weigh_hits(context: SessionContext, task: Task, hits: Sequence[Hit]) -> list[Hit]:
    """The hits in their order, with the scores that they are selected by. What would be refused is
    left out where there is enough else.
    """

    async def work() -> dict[str, float]:
        return await asyncio.to_thread(_worths, context, hits)

    # What is installed, and who lets in whom, is so at the moment.
    key = {"topic": task.topic.name, "round": task.round, "hits": [hit.url for hit in hits]}
    worth = await context.journal.moment(
        "foreseen", key, dict[str, float], work, dict[str, float]()
    )
    left = [hit for hit in hits if worth.get(hit.url, 1.0)]
    kept = left if len(left) >= ENOUGH else hits
    return [counting(hit, worth.get(hit.url, 1.0)) for hit in kept]


def counting(hit: Hit, worth: float) -> Hit:
    """The hit with so much of its score; with none it comes last whatever its words say."""
    if worth >= 1:
        return hit
    relevance = hit.relevance if worth else 0.0
    return hit.model_copy(update={"rrf": hit.rrf * worth, "relevance": relevance})


def _worths(context: SessionContext, hits: Sequence[Hit]) -> dict[str, float]:
    web = [hit for hit in hits if not hit.url.startswith(LOCAL)]  # the others have been read
    level_of = {hit.url: context.reader.level_at(hit.url) for hit in web}
    most = context.browser.max_level
    if any(level >= BROWSER for level in level_of.values()) and context.browser.missing:
        most = min(most, BROWSER - 1)
    # A host that let in browsers alone will let in nobody else.
    shut = {url for url, level in level_of.items() if level > most}
    worths = {
        hit.url: foreseen(hit.url, hit.title).worth * (SLOW if hit.url in shut else 1.0)
        for hit in web
    }
    return {url: worth for url, worth in worths.items() if worth < 1}

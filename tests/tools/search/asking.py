"""Asking all providers of a search at once, as the loop asks each of them."""

from __future__ import annotations

import asyncio

from spadework.errors import SearchError
from spadework.tools.search.failover import Search
from spadework.tools.search.provider import Provider
from spadework.values import Hit, Query


async def ask_all(
    search: Search, query: Query, *, limit: int, seconds: float
) -> list[tuple[str, list[Hit] | SearchError]]:
    """The hits of every provider or its failure, by name."""

    async def answer(provider: Provider) -> list[Hit] | SearchError:
        try:
            if (kept := await search.find_cached(provider, query, limit=limit)) is not None:
                return kept
            hits = await search.ask(provider, query, limit=limit, seconds=seconds)
        except SearchError as error:
            return error
        await search.keep(provider, query, hits, limit=limit)
        return hits

    answers = await asyncio.gather(*map(answer, search.providers))
    names = [provider.name for provider in search.providers]
    return list(zip(names, answers, strict=True))

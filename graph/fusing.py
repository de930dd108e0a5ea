"""Fusing what the workers brought: one record a page, ranked over all topics, near-copies under one origin."""

from __future__ import annotations

import asyncio

from spadework.graph.desk import Desk
from spadework.graph.state import ResearchState
from spadework.tools.fuse import reciprocal_rank_fusion
from spadework.tools.origins import origins
from spadework.tools.urls import canonical_url
from spadework.values import Page


async def fused(desk: Desk, state: ResearchState) -> dict[str, Page]:
    """Every page read so far by URL. `rrf` is its fused score over the topics that read it, `origin` the page it is a copy of."""
    finds = state.get("finds", [])
    known = {page.url: page for find in finds for page in find.pages}
    ranks = {
        hit.url: hit.rrf for hit in reciprocal_rank_fusion([[page.url for page in find.pages] for find in finds], k=desk.settings.rrf_k)
    }
    texts = {url: await desk.pages.get(page.content_hash) for url, page in known.items()}
    first = await asyncio.to_thread(origins, texts)
    return {
        url: page.model_copy(update={"rrf": ranks.get(canonical_url(url), ranks.get(url, 0.0)), "origin": first[url]})
        for url, page in known.items()
    }

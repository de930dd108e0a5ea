"""Fusion of the workers' results: pages ranked over all topics, copies under one origin."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from spadework.agents.extractive import lead
from spadework.graph.context import SessionContext
from spadework.graph.nodes.distil import pool_passages
from spadework.graph.routes import question_of
from spadework.graph.state import ResearchState
from spadework.tools.ranking.fusion import reciprocal_rank_fusion
from spadework.tools.ranking.link_authority import page_rank
from spadework.tools.ranking.near_duplicates import group_near_duplicates
from spadework.tools.web.urls import canonical_url
from spadework.values import Hit, Page, Problem, Task

#: Share of the time for assessing in which copies are looked for, and the minimum seconds.
COMPARING, LEAST_SECONDS = 0.25, 0.5


async def fuse_finds(context: SessionContext, state: ResearchState) -> dict[str, Any]:
    """Return the pages read so far, and each topic's passages from the latest round."""
    number = max(task.round for task in state["tasks"])
    tasks = [task for task in state["tasks"] if task.round == number]
    pages, uncompared = await _pages(context, state)
    planned: dict[str, Any] = {}
    unfit = context.model and not context.judging and not context.settings.approve
    if unfit and not state.get("rounds"):
        # A model that may not judge has not planned well either: with any model a report has at
        # least what it would have without one on the same pages.
        hits = [Hit(url=page.url, title=page.title) for page in pages.values()]
        plan = lead.plan(question_of(state), hits)
        tasks = [Task(topic=topic, queries=topic.queries, round=number) for topic in plan.topics]
        planned = {"plan": plan, "tasks": tasks}
    passages = await pool_passages(
        context, tasks, state.get("finds", []), pages, state.get("shown", [])
    )
    return planned | {"pages": pages, "passages": passages, "problems": uncompared}


async def _pages(
    context: SessionContext, state: ResearchState
) -> tuple[dict[str, Page], list[Problem]]:
    """Return every page by URL, with `rrf` over all topics, `origin` if a copy, and `linked`
    (PageRank); and a problem if time was too short to find copies.
    """
    finds = state.get("finds", [])
    known = {page.url: page for find in finds for page in find.pages}
    lists = [[page.url for page in find.pages] for find in finds]
    scores = {hit.url: hit.rrf for hit in reciprocal_rank_fusion(lists)}
    texts = {url: await context.pages.get(page.content_hash) for url, page in known.items()}
    until = time.monotonic() + max(LEAST_SECONDS, COMPARING * context.budget.phase("assess"))
    first = await asyncio.to_thread(group_near_duplicates, texts, until)
    uncompared = []
    if time.monotonic() > until:
        reason = "The time did not suffice to compare all pages that were read."
        effect = "Copies of one page may count as independent sources."
        uncompared = [Problem(stage="judge", subject="copies", reason=reason, effect=effect)]
    rank = page_rank(
        {
            canonical_url(url): {canonical_url(link.url) for link in await context.links.of(url)}
            for url in known
        }
    )
    return {
        url: page.model_copy(
            update={
                "rrf": scores.get(url, scores.get(canonical_url(url), 0.0)),
                "origin": first[url],
                "linked": rank[canonical_url(url)],
            }
        )
        for url, page in known.items()
    }, uncompared

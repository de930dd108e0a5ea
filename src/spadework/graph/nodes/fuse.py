"""Merge the workers' results: pages ranked over all topics, copies under one origin."""

from __future__ import annotations

from typing import Any

from spadework.deadline import Late
from spadework.graph.context import SessionContext
from spadework.graph.nodes.distil import pool_passages
from spadework.graph.nodes.plan import plan_again
from spadework.graph.routes import question_of
from spadework.graph.state import ResearchState
from spadework.tools.ranking.fusion import reciprocal_rank_fusion
from spadework.tools.ranking.link_authority import page_rank
from spadework.tools.ranking.near_duplicates import group_near_duplicates
from spadework.tools.web.urls import canonical_url
from spadework.values import Hit, Page, Problem, Task

#: Share of the assessment time for finding copies.
COMPARING = 0.25


async def fuse_finds(context: SessionContext, state: ResearchState) -> dict[str, Any]:
    """Return the pages read so far and each topic's passages from the latest round. The first round
    may also return a new plan.
    """
    number = max(task.round for task in state["tasks"])
    tasks = [task for task in state["tasks"] if task.round == number]
    pages, uncompared = await _pages(context, state, number)
    planned, problems = dict[str, Any](), uncompared
    if not state.get("rounds"):
        hits = [Hit(url=page.url, title=page.title) for page in pages.values()]
        made, failed, seconds = await plan_again(context, question_of(state), hits, state["plan"])
        problems = [*uncompared, *failed]
        if made:
            tasks = [Task(topic=topic, queries=(), round=number) for topic in made.topics]
            planned = {"plan": made, "tasks": tasks}
            planned |= {"plan_seconds": seconds or state.get("plan_seconds", 0.0)}
    passages, unsplit = await pool_passages(
        context, tasks, state.get("finds", []), pages, state.get("shown", [])
    )
    return planned | {"pages": pages, "passages": passages, "problems": [*problems, *unsplit]}


async def _pages(
    context: SessionContext, state: ResearchState, number: int
) -> tuple[dict[str, Page], list[Problem]]:
    finds = state.get("finds", [])
    known = {page.url: page for find in finds for page in find.pages}
    lists = [[page.url for page in find.pages] for find in finds]
    scores = {hit.url: hit.rrf for hit in reciprocal_rank_fusion(lists)}
    texts = {url: await context.pages.get(page.content_hash) for url, page in known.items()}
    seconds = COMPARING * context.budget.phase("assess")

    def compare(late: Late) -> tuple[dict[str, str], bool]:
        return group_near_duplicates(texts, late), late()

    first, cut = await context.run_in_time(seconds, ["copies", number], compare)
    uncompared = []
    if cut:
        reason = "There was no time to compare all pages that were read."
        effect = "Copies of one page may count as independent sources."
        uncompared = [Problem(stage="judge", subject="copies", reason=reason, effect=effect)]
    kinds = {page.url: page.kind for find in finds for page in find.pages if page.kind}
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
                "kind": kinds.get(url, ""),
                "origin": first[url],
                "linked": rank[canonical_url(url)],
            }
        )
        for url, page in known.items()
    }, uncompared

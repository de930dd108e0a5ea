"""Looking at hits before they are fetched: how hard their pages will be to have and to read, and by
a model, which are plainly about something else.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from spadework.agents.researcher import MOST_HITS, check_hits
from spadework.deadline import BEST_ONLY, SLOWER
from spadework.events import Checked
from spadework.graph.emit import Emit
from spadework.graph.model_policy import Permission, leaves_enough, sparing
from spadework.graph.session_context import SessionContext
from spadework.graph.state import WorkerState
from spadework.tools.extract.expected_type import SLOW, foreseen
from spadework.tools.ranking.selection import ENOUGH, LOCAL
from spadework.values import Hit, Problem, Task

#: In a short run a look may take this long all the same.
LEAST_SECONDS = 3.0
#: The level from which on a page is gone after in a browser.
BROWSER = 2


async def looked_at(
    context: SessionContext, state: WorkerState, hits: list[Hit], emit: Emit
) -> tuple[list[Hit], dict[str, str], list[Problem]]:
    """The hits that are worth reading, and why others are not, by URL. Where the former are too few
    the others stay, with relevance and fused score 0, so they come last. So few hits that all are
    read are not looked at, nor, in deep effort, those of a further round, whose queries say what is
    missing.
    """
    again = context.deep and state["task"].round > 1
    if context.model is None or len(hits) <= ENOUGH or again:
        return hits, {}, []
    topic, topics = state["task"].topic, state.get("topics", 1)
    # A worker that was saved before it knew the others reckons with all topics.
    tasks = state.get("tasks", topics)

    async def allowed() -> Permission:
        took, budget = state.get("plan_seconds", 0.0), context.budget
        if (
            SLOWER * took > _seconds(context)  # it would be asked in vain
            or not budget.fits(took)
            or budget.under(BEST_ONLY)
            or not leaves_enough(context, tasks, tasks, topics)
        ):
            return Permission(given=False)
        return await sparing(context, "judge")

    key = {"topic": topic.name, "round": state["task"].round}
    permission = await context.journal.moment("may look", key, Permission, allowed, Permission())
    if not permission.given:
        return hits, {}, list(permission.problems)
    ranked = sorted(hits, key=lambda hit: -hit.rrf)
    judged, problems = await check_hits(
        context.model, state["question"], topic, ranked, seconds=_seconds(context)
    )
    against = dict(judged)
    number, looked = state["task"].round, min(MOST_HITS, len(ranked))
    emit(Checked(topic=topic.name, hits=looked, round=number, against=against))
    kept = [hit for hit in ranked if hit.url not in against]
    if len(kept) >= ENOUGH:
        return kept, against, problems
    if not kept:  # who is against everything has chosen nothing
        return hits, {}, problems
    last = {"relevance": 0.0, "rrf": 0.0}
    ranked = [hit.model_copy(update=last) if hit.url in against else hit for hit in ranked]
    return ranked, against, problems


def _seconds(context: SessionContext) -> float:
    return context.budget.step("search", least=LEAST_SECONDS)


async def weigh_hits(
    context: SessionContext, task: Task, hits: Sequence[Hit]
) -> tuple[list[Hit], dict[str, str]]:
    """The hits in their order, with the scores that they are selected by, and why others would be
    refused, by URL: those are left out where there is enough else.
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
    refused = {hit.url: word_refusal(hit) for hit in hits if not worth.get(hit.url, 1.0)}
    return [counting(hit, worth.get(hit.url, 1.0)) for hit in kept], refused


def word_refusal(hit: Hit) -> str:
    """Why the page of a hit cannot be read, in a sentence."""
    why = foreseen(hit.url, hit.title).refused
    return f"{why[:1].upper()}{why[1:]}."


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

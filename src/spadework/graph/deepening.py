"""What a worker does besides in deep effort: it looks once more for what the pages did not say."""

from __future__ import annotations

from spadework.agents.researcher import reflect
from spadework.deadline import BEST_ONLY
from spadework.graph.choosing import Choosing
from spadework.graph.cutting import show_passage
from spadework.graph.distilling import distil_pages
from spadework.graph.emit import Emit
from spadework.graph.looking import weigh_hits
from spadework.graph.query_filters import with_filters
from spadework.graph.reading import read_pages
from spadework.graph.searching import fused_hits, search_all
from spadework.graph.session_context import SessionContext
from spadework.graph.state import WorkerState
from spadework.tools.ranking.selection import preset_of, select
from spadework.tools.web.urls import canonical_url
from spadework.values import Page, Problem, Unread

#: Characters of the best passages that the reflection sees.
REFLECTION_CHARS = 6_000
#: Pages that a refined query may bring.
REFINED_PAGES = 4
#: The round after which nothing is reflected on.
FIRST = 1


async def looked_again(
    context: SessionContext, state: WorkerState, drafts: list[Page], emit: Emit
) -> tuple[list[Page], list[Unread], list[Problem]]:
    """The pages that one refined query adds to those that were read in the first round, where a
    reflection on these asks for it, and what it found and could not read. A further round is itself
    such a search.
    """
    task = state["task"]
    if not context.deep or context.model is None or not drafts or task.round > FIRST:
        return drafts, [], []
    took, budget = state.get("plan_seconds", 0.0), context.budget
    in_time = not budget.under(BEST_ONLY) and budget.fits(took)
    if not await context.noted("may reflect", task.topic.name, in_time, True):
        return drafts, [], []
    pages = {page.content_hash: page for page in drafts}
    best, used = [], 0
    for passage in await distil_pages(context, task.topic, drafts, by_model=True):
        used += passage.end - passage.start
        if used <= REFLECTION_CHARS:
            text = await context.pages.get(passage.content_hash)
            best.append(show_passage(pages[passage.content_hash], text, passage))
    query, problems = await reflect(
        context.model, state["question"], task.topic, best, seconds=context.budget.phase("read")
    )
    if query is None:
        return drafts, [], problems
    before = {canonical_url(url) for url in (*state["read_before"], *(page.url for page in drafts))}
    again = task.model_copy(update={"queries": (query,), "pages": REFINED_PAGES})
    again = with_filters(again, context.settings, state["question"])
    lists, failed, _ = await search_all(context, again, emit, before)
    settings = context.settings
    hits = fused_hits(lists)
    fresh = [hit for hit in hits if canonical_url(hit.url) not in before]
    weighed, refused = await weigh_hits(context, again, fresh)
    made = select(
        weighed,
        preset=preset_of(settings),
        pages_per_domain=settings.pages_per_domain,
        limit=REFINED_PAGES,
    )
    emit(Choosing(again, hits, before, refused, made, again=True).told(made))
    more, lost, missed = await read_pages(
        context, again, list(made.chosen), list(made.reserve), emit
    )
    return [*drafts, *more], lost, [*problems, *failed, *missed]

"""search ▸ select ▸ read ▸ clean: the one way in, with or without the distilling of a worker."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from spadework.deadline import BEST_ONLY
from spadework.graph.choosing import Choosing
from spadework.graph.cleaning import clean_pages
from spadework.graph.deepening import looked_again
from spadework.graph.emit import emitter
from spadework.graph.looking import looked_at, weigh_hits
from spadework.graph.page_assignment import How, PageAssignment
from spadework.graph.query_filters import with_filters
from spadework.graph.reading import read_pages, was_readable
from spadework.graph.recalling import recall_pages
from spadework.graph.searching import UNASKED, found_before, fused_hits, search_all
from spadework.graph.session_context import SessionContext, context_of
from spadework.graph.state import WorkerState
from spadework.graph.stopping import stopped_by_disk
from spadework.settings import Settings
from spadework.tools.knowledge.entry import fresh_since
from spadework.tools.ranking.link_authority import follow_links
from spadework.tools.ranking.selection import (
    LOCAL,
    Selection,
    affordable,
    halve_selection,
    preset_of,
)
from spadework.tools.ranking.selection import select as select_hits
from spadework.tools.search.search_filters import add_filters, fits
from spadework.tools.web.urls import canonical_url
from spadework.values import Hit, Query, Task

#: The round with the threshold of the preset; every further one lowers it by a step.
FIRST = 1


async def search(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Look at what is known; where that will not do, ask every provider. Follow links; fuse all."""
    context = await context_of(state["session_id"], runtime.context)
    emit = emitter(context, runtime)
    before = {canonical_url(url) for url in state["read_before"]}
    task = with_filters(state["task"], context.settings, state["question"])
    known = await recall_pages(context, state["question"], task, emit, before)
    asking = None if known.enough else search_all(context, task, emit, before)
    lists, problems, heard = await asking if asking else UNASKED
    links = {url: await context.links.of(url) for url in state["read_before"]}
    left = await found_before(context, task, before)
    found = [*lists, *left, *known.beside(lists), follow_links(links, task.queries, before)]
    # Also what was not searched for, but known or led to.
    wish = add_filters(Query(text=""), context.settings)
    return {
        "hits": [hit for hit in fused_hits(found) if fits(wish, hit)],
        "answered": bool(lists or left) or not problems,
        "heard": heard,
        "problems": [*problems, *known.problems],
    }


async def select(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Choose which hits to read, and keep the next best in reserve."""
    context = await context_of(state["session_id"], runtime.context)
    before = {canonical_url(url) for url in state["read_before"]}
    fresh = [hit for hit in state["hits"] if canonical_url(hit.url) not in before]
    settings, emit = context.settings, emitter(context, runtime)
    task, share = state["task"], settings.pages_per_domain
    fresh, refused = await weigh_hits(context, task, fresh)
    fresh, against, problems = await looked_at(context, state, fresh, emit)
    paid = await _paid_earlier(context, task, fresh)
    made = select_hits(
        fresh,
        preset=preset_of(settings),
        pages_per_domain=share,
        limit=task.pages + len(paid),
        steps=max(0, task.round - FIRST),
        asked=state["question"],
    )
    asked = made = affordable(made, paid, task.pages)
    if await context.narrowed(BEST_ONLY, f"select {task.round} {task.topic.name}"):
        made = halve_selection(made, await _cached(context, task, made.chosen))
    made, taken = await _assign_selection(context, state, made)
    emit(Choosing(task, state["hits"], before, refused | against, asked, taken).told(made))
    return {
        "chosen": list(made.chosen),
        "reserve": list(made.reserve),
        "taken": sorted(taken),
        "problems": problems,
    }


async def _cached(context: SessionContext, task: Task, hits: Sequence[Hit]) -> list[str]:
    """The hits whose pages are here already: in the cache of HTTP, or in the knowledge store."""
    since = fresh_since(task.queries, context.settings)

    async def here(url: str) -> bool:
        if await context.reader.holds(url):
            return True
        return await context.page_cache.page(url, since) is not None

    async def work() -> list[str]:
        web = [hit.url for hit in hits if not hit.url.startswith(LOCAL)]
        held = await asyncio.gather(*map(here, web))
        return [url for url, known in zip(web, held, strict=True) if known]

    key = {"topic": task.topic.name, "round": task.round}
    return await context.journal.moment("cached", key, list[str], work, list[str]())


async def _paid_earlier(context: SessionContext, task: Task, fresh: Sequence[Hit]) -> list[str]:
    """The hits whose pages were fetched in an earlier round and not needed there: where the ceiling
    bounds the pages of a further round, they take no place, since they cost nothing.
    """
    if task.together is None or task.round <= FIRST:
        return []

    async def here() -> list[str]:
        return [hit.url for hit in fresh if await was_readable(context.journal, hit)]

    key = {"topic": task.topic.name, "round": task.round}
    return await context.journal.once("fetched before", key, list[str], here)


async def read(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Fetch and extract the chosen hits, a reserve for every one that fails, until the deadline."""
    context = await context_of(state["session_id"], runtime.context)
    emit = emitter(context, runtime)
    # A worker that was saved before pages were dealt out has none.
    taken = frozenset(state.get("taken", ()))
    drafts, unread, problems = await read_pages(
        context, state["task"], state["chosen"], state["reserve"], emit, taken
    )
    drafts, lost, more = await looked_again(context, state, drafts, emit)
    return {"drafts": drafts, "unread": [*unread, *lost], "problems": [*problems, *more]}


async def clean(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Keep the pages that hold text, each text once; a model takes out what is not their matter."""
    context = await context_of(state["session_id"], runtime.context)
    seen: dict[str, Any] = {}
    for page in [*state["attached"], *state["drafts"]]:
        seen.setdefault(page.content_hash, page)
    pages, problems = await clean_pages(
        context, state["question"], state["task"].topic, list(seen.values()), state.get("topics", 1)
    )
    return {"pages": pages, "problems": problems}


async def _assign_selection(
    context: SessionContext, state: WorkerState, made: Selection
) -> tuple[Selection, frozenset[str]]:
    """The selection with the pages that this worker is dealt, where they are dealt out, and those
    that others are; of these it reads along what it would have chosen.
    """
    task, among = state["task"], state.get("among", ())
    if len(among) < 2:
        return made, frozenset()
    of = (state["question"], task.round)
    how = How(own=task.own, joint=state.get("joint", False), most=task.together)
    assignment = context.tables.setdefault(of, PageAssignment(context.journal, of, among, how))
    hits = {canonical_url(hit.url): hit for hit in (*made.chosen, *made.reserve)}
    wish = (list(hits), len(made.chosen))
    mine, taken = await assignment.assign(
        task.topic.name, wish, context.stop, seconds=context.budget.phase("search")
    )
    along = [hit for hit in made.chosen if canonical_url(hit.url) in taken]
    own = [hit for url, hit in hits.items() if url in mine]
    rest = [hit for url, hit in hits.items() if url not in mine and hit not in along]
    return replace(made, chosen=(*along, *own), reserve=tuple(rest)), taken


def steps(output: type) -> StateGraph[WorkerState, Settings, WorkerState, Any]:
    """The steps of a worker up to its pages, `clean` being the last, from which others go on."""
    return (
        StateGraph(WorkerState, context_schema=Settings, output_schema=output)
        .add_node(stopped_by_disk(search))
        .add_node(stopped_by_disk(select))
        .add_node(stopped_by_disk(read))
        .add_node(stopped_by_disk(clean))
        .add_edge(START, "search")
        .add_edge("search", "select")
        .add_edge("select", "read")
        .add_edge("read", "clean")
    )


gather = steps(WorkerState).add_edge("clean", END).compile(name="gather")

"""Run workers (search ▸ select ▸ read ▸ clean ▸ distil) and sessions that only gather pages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from spadework.agents.editor import of_lines, problem_lines
from spadework.deadline import BEST_ONLY
from spadework.errors import SettingsError
from spadework.events import Distilled
from spadework.graph.context import SessionContext, context_of, emitter
from spadework.graph.effort.model_policy import judge
from spadework.graph.finish import status_of, stopped_by_disk
from spadework.graph.nodes.clean import clean_pages
from spadework.graph.nodes.distil import distil_pages, need_of
from spadework.graph.nodes.read import read_pages, was_readable
from spadework.graph.nodes.recall import recall_pages
from spadework.graph.nodes.search import UNASKED, found_before, fused_hits, search_all
from spadework.graph.nodes.select import Choosing, looked_at, weigh_hits
from spadework.graph.pages.deep_reading import looked_again
from spadework.graph.pages.page_assignment import How, PageAssignment
from spadework.graph.pages.provider_search import with_filters
from spadework.graph.report import sources_of
from spadework.graph.state import Find, ResearchState, WorkerOutput, WorkerState
from spadework.settings import Settings
from spadework.tools.export.markdown_report import to_markdown
from spadework.tools.knowledge.entry import fresh_since
from spadework.tools.ranking.selection import (
    LOCAL,
    Selection,
    affordable,
    follow_links,
    halve_selection,
    preset_of,
    select as select_hits,
)
from spadework.tools.search.result_rows import add_filters, fits
from spadework.tools.web.urls import canonical_url
from spadework.values import (
    Hit,
    Page,
    Part,
    Problem,
    Query,
    Report,
    Result,
    Section,
    Sentence,
    Source,
    Task,
    Topic,
    Unread,
    Value,
)
from spadework.visible import one_line, visible

#: Number of the first round. Each later round lowers the relevance threshold by one step.
FIRST = 1


async def search(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Collect hits from stored pages, links on pages already read and, if needed, the providers."""
    context = await context_of(state["session_id"], runtime.context)
    emit = emitter(context, runtime)
    before = {canonical_url(url) for url in state["read_before"]}
    task = with_filters(state["task"], context.settings, state["question"])
    known = await recall_pages(context, state["question"], task, emit, before)
    asking = None if known.enough else search_all(context, task, emit, before)
    lists, problems, heard = await asking if asking else UNASKED
    links = {url: await context.links.of(url) for url in state["read_before"]}
    left = await found_before(context, task, before)
    found = [*lists, *left, *known.as_list(lists), follow_links(links, task.queries, before)]
    # Links and stored pages must match the filters too.
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
    task = state["task"]
    fresh, refused = await weigh_hits(context, task, fresh)
    fresh, against, problems = await looked_at(context, state, fresh, emit)
    paid = await _paid_earlier(context, task, fresh)
    made = select_hits(
        fresh,
        preset=preset_of(settings),
        limit=task.pages + len(paid),
        steps=max(0, task.round - FIRST),
        asked=state["question"],
    )
    asked = made = affordable(made, paid, task.pages)
    if await context.narrowed(BEST_ONLY, f"select {task.round} {task.topic.name}"):
        made = halve_selection(made, await _cached(context, task, made.chosen))
    made, taken = await _assign_selection(context, state, made)
    emit(Choosing(task, state["hits"], before, refused | against, asked, taken).as_event(made))
    return {
        "chosen": list(made.chosen),
        "reserve": list(made.reserve),
        "taken": sorted(taken),
        "problems": problems,
    }


async def _cached(context: SessionContext, task: Task, hits: Sequence[Hit]) -> list[str]:
    since = fresh_since(task.queries)

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
    """Return the URLs of hits that this session already fetched. The page limit ignores them."""
    if task.together is None or task.round <= FIRST:
        return []

    async def here() -> list[str]:
        return [hit.url for hit in fresh if await was_readable(context.journal, hit)]

    key = {"topic": task.topic.name, "round": task.round}
    return await context.journal.once("fetched before", key, list[str], here)


async def read(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Fetch the chosen hits and extract their text. Hits in reserve replace failed ones."""
    context = await context_of(state["session_id"], runtime.context)
    emit = emitter(context, runtime)
    # States saved by earlier versions have no `taken`.
    taken = frozenset(state.get("taken", ()))
    drafts, unread, problems = await read_pages(
        context, state["task"], state["chosen"], state["reserve"], emit, taken
    )
    drafts, lost, more = await looked_again(context, state, drafts, emit)
    return {"drafts": drafts, "unread": [*unread, *lost], "problems": [*problems, *more]}


async def clean(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Drop pages with duplicate text, and remove boilerplate."""
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
    """Return the builder of a worker's graph, from "search" to "clean", without an edge to END."""
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
NOTHING_WRITTEN = (
    "These pages were only gathered: they were not judged or summarized, and no model was used."
    " Their full texts are in the session."
)
#: The value of `stopped_by` if the client disconnected.
CANCELLED = "cancelled"
_NONE = "No page could be read."


class Gathered(Value):
    """The gathered pages, best first. `unread` are hits that could not be read, `found` counts
    hits, and `answered` is false if every search failed.
    """

    pages: tuple[Page, ...] = ()
    unread: tuple[Unread, ...] = ()
    found: int = 0
    answered: bool = True
    problems: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, state: WorkerState) -> Gathered:
        """Return what has been gathered so far, whichever step came last."""
        pages: Sequence[Page] = state.get("pages", state.get("drafts", []))
        return cls(
            pages=tuple(
                pages[: state["task"].pages]
            ),  # Both a slow page and its replacement may have arrived.
            unread=tuple(state.get("unread", ())),
            found=len(state.get("hits", [])),
            answered=state.get("answered", True),
            problems=tuple(state.get("problems", [])),
        )


def asked_of(query: str) -> Query:
    """Return the text `query` as a `Query`. Raises SettingsError if it is empty."""
    text = " ".join(visible(query).split())
    if not text:
        raise SettingsError("The query is empty. Say what to search for.")
    return Query(text=text)


def task_of(query: Query, pages: int = 0) -> Task:
    """Return a task that reads at most `pages` pages for one query."""
    topic = Topic(name=one_line(query.text), question=query.text, queries=(query,))
    return Task(topic=topic, queries=(query,), pages=pages)


def begin_state(context: SessionContext, query: str, pages: int) -> WorkerState:
    """Return the initial state for one query. Raises SettingsError if the query is empty."""
    task = task_of(asked_of(query), pages)
    begun = {
        "session_id": context.session_id,
        "question": task.topic.question,
        "task": task,
        "read_before": [],
        "attached": [],
    }
    return cast("WorkerState", begun)


def result_of_pages(
    context: SessionContext, asked: str, gathered: Gathered, *, why: str = "", failed: bool = False
) -> Result:
    """Return the result of a session that only gathered pages. `why` says what ended it early."""
    pages = {page.url: page for page in gathered.pages}
    read = cast("ResearchState", {"pages": pages})
    found = {source.url: source for source in sources_of(read, [], [])}
    # Without citations, sources are numbered in page order.
    sources = [
        found[url].model_copy(update={"n": n, "unused": ""}) for n, url in enumerate(pages, 1)
    ]
    why = why or ("nothing read" if gathered.unread and not pages else "")
    named = gathered.pages[0].title if asked in pages else ""
    document = Report(title=named or asked, sections=_sections(context, gathered, sources, why))
    return Result(
        session_id=context.session_id,
        question=asked,
        status="failed" if failed else "partial" if why == CANCELLED else status_of(why),
        stopped_by=why,
        mode="extractive",
        sources=tuple(sources),
        report=to_markdown(document, {}, sources),
        document=document,
        unread=gathered.unread,
        problems=gathered.problems,
        searched=context.searching,
        usage=context.budget.used.model_copy(update={"pages": len(pages)}),
        timings={"total": round(context.budget.elapsed(), 2)},
        session_dir=str(context.folder),
    )


def _sections(
    context: SessionContext, gathered: Gathered, sources: Sequence[Source], why: str
) -> tuple[Section, ...]:
    searched = f"Searched: {'; '.join(context.searching)}." if context.searching else ""
    gone = "The client disconnected before all pages were read." if why == CANCELLED else ""
    about = (NOTHING_WRITTEN if sources else _NONE, gone, searched, *context.notices)
    by_url = {page.url: page for page in gathered.pages}
    listed = []
    for source in sources:
        page = by_url[source.url]
        how = f"{page.chars:,} characters" + (f", level {page.level}" if page.level > 0 else "")
        listed.append(Sentence(text=f"{source.title or source.domain}: {source.url} ({how})"))
    parts = (Part(form="steps", takes=(1,) * len(listed)),)
    made = (
        of_lines("About this report", about),
        problem_lines(gathered.problems),
        Section(heading="Sources", kind="limits", sentences=tuple(listed), parts=parts),
    )
    return tuple(section for section in made if section.sentences)


async def distil(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Split the pages, and keep the passages that fit the topic best."""
    context = await context_of(state["session_id"], runtime.context)
    task, pages = state["task"], state["pages"]
    # First find out whether the model is fit to judge, because the number of passages depends on
    # it.
    await judge(context, f"distil {task.round} {task.topic.name}")
    by_model = context.judging is not None
    passages, problems = await distil_pages(context, task.topic, pages, by_model=by_model)
    emitter(context, runtime)(
        Distilled(
            topic=task.topic.name,
            need=need_of(task.topic),
            passages=len(passages),
            round=task.round,
        )
    )
    fates = [
        await was_readable(context.journal, hit) for hit in (*state["chosen"], *state["reserve"])
    ]
    left = max(0, len(fates) - fates.count(False) - len(state["drafts"]))
    return {
        "finds": [
            Find(
                topic=task.topic.name,
                round=task.round,
                pages=tuple(pages),
                passages=tuple(passages),
                left=left,
                answered=state.get("answered", True),
                heard=tuple(state.get("heard", ())),
                found=len(state["hits"]),
                unread=tuple(state.get("unread", ())),
            )
        ],
        "problems": problems,
    }


worker = (
    steps(WorkerOutput)
    .add_node(stopped_by_disk(distil))
    .add_edge("clean", "distil")
    .add_edge("distil", END)
    .compile(name="worker")
)

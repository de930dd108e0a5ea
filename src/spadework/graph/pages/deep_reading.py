"""Read many pages in several model calls, then search for what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import zip_longest

from spadework.agents.assessor import LIKELY, Served, judge_ledger, read_share
from spadework.agents.evidence.expectation import CONFIRMING, confirm_fact
from spadework.agents.evidence.passages import Judgement, PassageView, Spot, to_people
from spadework.agents.extractive import judge as extractive
from spadework.agents.llm.client import Model
from spadework.agents.researcher import reflect
from spadework.deadline import BEST_ONLY, Late
from spadework.graph.context import Emit, SessionContext
from spadework.graph.evidence import entries
from spadework.graph.nodes.distil import (
    SHOWN_TOKENS,
    WINDOW_TOKENS,
    Looked,
    distil_pages,
    readable,
    show_passage,
)
from spadework.graph.nodes.read import read_pages
from spadework.graph.nodes.search import fused_hits, search_all
from spadework.graph.nodes.select import Choosing, weigh_hits
from spadework.graph.pages.provider_search import with_filters
from spadework.graph.state import ResearchState, WorkerState
from spadework.tools.ranking.selection import preset_of, select
from spadework.tools.text import tokens
from spadework.tools.text.page_text import PageText
from spadework.tools.web.urls import canonical_url
from spadework.values import Evidence, Page, Passage, Plan, Problem, Topic, Unread

#: Fraction of the assessment time to spend on reading pages. The rest is for judging topics.
READING = 0.7
#: Each topic's quotes may be added to the ledger for this long: the time left, divided by the
#: number of remaining topics plus this number.
ENTERED = 3

Place = tuple[str, int, int]


async def in_shares(
    context: SessionContext, state: ResearchState, topics: Sequence[Topic], seconds: float
) -> Looked | None:
    """Read and judge the first round's pages in several calls, or return None if not needed."""
    model = context.judging
    first = max(task.round for task in state["tasks"]) == min(t.round for t in state["tasks"])
    if model is None or not context.deep or not first:
        return None
    await tokens.ready()
    most = await readable(model, SHOWN_TOKENS["deep"], seconds)
    found = {topic.name: state.get("passages", {}).get(topic.name, []) for topic in topics}
    texts = {
        p.content_hash: await context.pages.get(p.content_hash) for ps in found.values() for p in ps
    }
    pages = {page.content_hash: page for page in state.get("pages", {}).values()}
    window = WINDOW_TOKENS[context.settings.effort]
    shares = await asyncio.to_thread(shares_of, found, pages, texts, (window, most))
    if len(shares) < 2:
        return None
    return await _look_at_shares(context, model, state, topics, found, shares)


async def _look_at_shares(
    context: SessionContext,
    model: Model,
    state: ResearchState,
    topics: Sequence[Topic],
    found: Mapping[str, Sequence[Passage]],
    shares: Sequence[Sequence[Served]],
) -> Looked:
    plan, ledger = state["plan"], state.get("evidence", [])
    seconds = READING * context.budget.phase("assess")
    done = await asyncio.gather(
        *(read_share(model, plan, topics, share, seconds=seconds) for share in shares)
    )
    problems = [problem for _, failed in done for problem in failed]
    added: list[Evidence] = []
    seen = {
        topic.name: [one.shown for share in shares for one in share if n in one.topics]
        for n, topic in enumerate(topics)
    }
    for left, topic in zip(range(len(topics), 0, -1), topics, strict=True):
        spots = [spot for named, _ in done for spot in named.get(topic.name, ())]
        proven = partial(_proven, plan, topic, spots, seen[topic.name])
        seconds = CONFIRMING * context.budget.phase("assess")
        whole, unsure = await context.run_in_time(seconds, ["confirm", topic.name, 0], proven)
        known = [*ledger, *added]
        new, lost = await entries(context, topic, whole, known, left=left + ENTERED)
        added += new
        problems += [*unsure, *lost]
    seconds = context.budget.phase("assess")
    judged = await asyncio.gather(
        *(
            judge_ledger(
                model,
                plan,
                topic,
                [e for e in [*ledger, *added] if e.topic == topic.name],
                seen[topic.name],
                seconds=seconds,
            )
            for topic in topics
        )
    )
    return Looked(
        [judgement for judgement, _ in judged],
        added,
        _passages_in(shares, found),
        [*problems, *(problem for _, failed in judged for problem in failed)],
    )


def _passages_in(
    shares: Sequence[Sequence[Served]], found: Mapping[str, Sequence[Passage]]
) -> list[Passage]:
    starts = {(s.shown.page.content_hash, s.shown.start) for share in shares for s in share}
    return [
        p
        for ps in found.values()
        for p in ps
        if any(digest == p.content_hash and p.start <= at < p.end for digest, at in starts)
    ]


def _proven(
    plan: Plan, topic: Topic, spots: Sequence[Spot], shown: Sequence[PassageView], late: Late
) -> tuple[tuple[Spot, ...], list[Problem]]:
    if not spots:
        found = extractive.assess(plan, topic, shown, ())
        spots = found.spots if found.score > LIKELY else ()
    named = Judgement(False, 0.0, tuple(spots))
    whole, problems = confirm_fact(plan, topic, named, shown, late)
    return whole.spots, problems


def shares_of(
    found: Mapping[str, Sequence[Passage]],
    pages: Mapping[str, Page],
    texts: Mapping[str, PageText],
    room: tuple[int, int],
) -> list[list[Served]]:
    """Split the distinct passages of all topics into shares, one per model call. `room` holds the
    maximum tokens per share and in total. Passages that do not fit are left out.
    """
    window, most = room
    served: dict[Place, list[int]] = {}
    for n, passages in enumerate(found.values()):
        for p in passages:
            served.setdefault((p.content_hash, p.start, p.end), []).append(n)
    kept: dict[str, list[tuple[Served, int]]] = {}
    used = 0
    for passage in _in_order(list(found.values())):
        place = (passage.content_hash, passage.start, passage.end)
        if place not in served:
            continue
        topics = tuple(served.pop(place))
        whole = show_passage(pages[passage.content_hash], texts[passage.content_hash], passage)
        parts = [(Served(part, topics), tokens.count(part.text)) for part in to_people(whole)]
        cost = sum(count for _, count in parts)
        if cost <= window and used + cost <= most:
            used += cost
            kept.setdefault(passage.content_hash, []).extend(parts)
    order = sorted(kept, key=lambda digest: -pages[digest].rrf)
    return _pack_shares([kept[digest] for digest in order], window)


def _in_order(found: Sequence[Sequence[Passage]]) -> Iterator[Passage]:
    first: list[list[Passage]] = []
    for passages in found:
        best: dict[str, Passage] = {}
        for p in sorted(passages, key=lambda p: -p.score):
            best.setdefault(p.content_hash, p)
        first.append(list(best.values()))
    for lists in (first, found):
        for turn in zip_longest(*lists):
            yield from (p for p in turn if p is not None)


def _pack_shares(pages: Sequence[Sequence[tuple[Served, int]]], window: int) -> list[list[Served]]:
    shares: list[list[Served]] = []
    left = 0
    for page in pages:
        whole = sum(count for _, count in page)
        if whole <= window and whole > left:
            left = 0
        for one, count in page:
            if count > left:
                shares.append([])
                left = window
            shares[-1].append(one)
            left -= count
    return [
        sorted(share, key=lambda one: (-one.shown.page.rrf, one.shown.start)) for share in shares
    ]


REFLECTION_CHARS = 6_000
REFINED_PAGES = 4
#: The last round in which the model reflects on the pages just read. Later rounds search for what
#: is missing anyway.
FIRST = 1


async def looked_again(
    context: SessionContext, state: WorkerState, drafts: list[Page], emit: Emit
) -> tuple[list[Page], list[Unread], list[Problem]]:
    """Have the model reflect on `drafts`, the pages just read. If it proposes a query, search once
    more. Return all pages, the hits that could not be read, and the problems.
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
    passages, unsplit = await distil_pages(context, task.topic, drafts, by_model=True)
    for passage in passages:
        used += passage.end - passage.start
        if used <= REFLECTION_CHARS:
            text = await context.pages.get(passage.content_hash)
            best.append(show_passage(pages[passage.content_hash], text, passage))
    query, problems = await reflect(
        context.model, state["question"], task.topic, best, seconds=context.budget.phase("read")
    )
    problems = [*unsplit, *problems]
    if query is None:
        return drafts, [], problems
    before = {canonical_url(url) for url in (*state["read_before"], *(page.url for page in drafts))}
    again = task.model_copy(update={"queries": (query,), "pages": REFINED_PAGES})
    again = with_filters(again, context.settings, state["question"])
    lists, failed, _ = await search_all(context, again, emit, before)
    hits = fused_hits(lists)
    fresh = [hit for hit in hits if canonical_url(hit.url) not in before]
    weighed, refused = await weigh_hits(context, again, fresh)
    made = select(weighed, preset=preset_of(context.settings), limit=REFINED_PAGES)
    emit(Choosing(again, hits, before, refused, made, again=True).as_event(made))
    more, lost, missed = await read_pages(
        context, again, list(made.chosen), list(made.reserve), emit
    )
    return [*drafts, *more], lost, [*problems, *failed, *missed]

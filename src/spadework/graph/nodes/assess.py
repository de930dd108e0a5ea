"""Assess a round: judge all topics concurrently, and add the evidence to the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, TypedDict

from spadework.agents.assessor import assess
from spadework.agents.evidence.counts import with_lists, with_tables
from spadework.agents.evidence.expectation import (
    CONFIRMING,
    confirm_fact,
    holds_expected,
    shortfalls,
    standard_of,
)
from spadework.agents.evidence.passages import Judgement, PassageView, to_people
from spadework.agents.extractive.judge import ROOM
from spadework.agents.extractive.writer import columns_of
from spadework.deadline import Late
from spadework.events import Scored
from spadework.graph.context import SessionContext
from spadework.graph.effort.model_policy import ANSWER_TOKENS, payable
from spadework.graph.evidence import entries
from spadework.graph.nodes.distil import (
    LEAST_ROOM,
    Looked,
    first_within,
    join_passages,
    pool_passages,
    readable,
    room_of,
    show_passage,
)
from spadework.graph.nodes.plan import plan_again
from spadework.graph.pages.deep_reading import in_shares
from spadework.graph.routes import no_better, question_of
from spadework.graph.state import ResearchState
from spadework.tools.ranking.relevance import reciprocal_rank_fusion
from spadework.tools.ranking.selection import page_rank
from spadework.tools.ranking.statements import group_near_duplicates
from spadework.tools.web.urls import canonical_url
from spadework.values import (
    CODE,
    Coverage,
    Evidence,
    Hit,
    Page,
    Passage,
    Problem,
    Round,
    Shortfall,
    Task,
    Topic,
)

#: Maximum fraction of the assessment time to spend on finding pages that are copies of each other.
COMPARING = 0.25


class Judged(TypedDict):
    """The state updates of a judged round. `shown` are the passages that a model saw."""

    evidence: list[Evidence]
    coverage: dict[str, Coverage]
    rounds: list[Round]
    problems: list[Problem]
    shortfalls: list[Shortfall]
    shown: list[Passage]


def after(state: ResearchState, judged: Judged) -> ResearchState:
    """Return the state with a round's updates applied."""
    return {
        **state,
        "evidence": [*state.get("evidence", []), *judged["evidence"]],
        "coverage": state.get("coverage", {}) | judged["coverage"],
        "rounds": [*state.get("rounds", []), *judged["rounds"]],
        "shortfalls": judged["shortfalls"],
    }


async def assess_round(context: SessionContext, state: ResearchState) -> Judged:
    """Judge the latest round's topics, number the new evidence, and list the shortfalls."""
    number = max(task.round for task in state["tasks"])
    planned = {topic.name for topic in state["plan"].topics}
    tasks = [task for task in state["tasks"] if task.round == number]
    # The plan may have been replaced after pages were read, so topics that are no longer in it are
    # left out.
    topics = list({t.topic.name: t.topic for t in tasks if t.topic.name in planned}.values())
    ledger = state.get("evidence", [])
    seconds = context.budget.judging_seconds(state.get("plan_seconds", 0.0))
    looked = await in_shares(context, state, topics, seconds)
    looked = looked or await _by_topic(context, state, topics, seconds)
    added = looked.added
    before = state.get("coverage", {})
    coverage: dict[str, Coverage] = {}
    for topic, judgement in zip(topics, looked.judgements, strict=True):
        known = [e for e in [*ledger, *added] if e.topic == topic.name]
        new = any(e.topic == topic.name for e in added)
        by_code, old = judgement.judge == CODE, before.get(topic.name)
        proof = _as_judged(known, judgement, old) if by_code else known
        found = _coverage(topic, judgement, proof, context.settings.completeness)
        back = old is not None and (no_better(found, old) if by_code else not new)
        if old and back:
            # Keep the topic's earlier coverage. If rules judged the topic because a model call
            # failed, add the quotes that the rules found.
            wanted = judgement.recommendations or old.recommendations
            more = found.evidence_ids if context.judging and not found.near else ()
            ids = tuple(dict.fromkeys([*old.evidence_ids, *more]))
            found = old.model_copy(update={"recommendations": wanted, "evidence_ids": ids})
        told = (*(old.differences if old else ()), *judgement.differences)
        coverage[topic.name] = found.model_copy(update={"differences": tuple(dict.fromkeys(told))})
    done = _round(number, before, before | coverage, (len(ledger), len(ledger) + len(added)))
    standard = standard_of(state["plan"].question_type)
    lacking = shortfalls(state["plan"], before | coverage, [*ledger, *added], standard)
    return {
        "evidence": added,
        "coverage": coverage,
        "rounds": [done],
        "problems": looked.problems,
        "shortfalls": list(lacking),
        "shown": looked.shown,
    }


def _round(
    number: int, before: dict[str, Coverage], after: dict[str, Coverage], evidence: tuple[int, int]
) -> Round:
    return Round(
        number=number,
        evidence_before=evidence[0],
        evidence_after=evidence[1],
        score=_mean([c.score for c in after.values()]) or 0.0,
        score_before=_mean([c.score for c in before.values()]) or 0.0,
        quality=_mean([c.quality.mean for c in after.values() if c.quality]),
        quality_before=_mean([c.quality.mean for c in before.values() if c.quality]),
    )


def _mean(scores: Sequence[float]) -> float | None:
    return round(sum(scores) / len(scores), 3) if scores else None


async def _by_topic(
    context: SessionContext, state: ResearchState, topics: Sequence[Topic], seconds: float
) -> Looked:
    room = await _room(context, len(topics), len(state.get("rounds", [])), seconds)
    judged = await asyncio.gather(
        *(_judge(context, state, topic, room, seconds) for topic in topics)
    )
    ledger = state.get("evidence", [])
    added, unentered = list[Evidence](), list[Problem]()
    for n, (topic, (judgement, _, _)) in enumerate(zip(topics, judged, strict=True)):
        known, left = [*ledger, *added], len(topics) - n
        new, lost = await entries(context, topic, judgement.spots, known, left=left)
        added += new
        unentered += lost
    return Looked(
        [judgement for judgement, _, _ in judged],
        added,
        [p for _, seen, _ in judged for p in seen] if context.judging else [],
        [*(problem for _, _, problems in judged for problem in problems), *unentered],
    )


async def _room(context: SessionContext, topics: int, number: int, seconds: float) -> int:
    """Return how many tokens of page text to show for each topic, or 0 without a model."""
    if context.judging is None:
        return 0
    room = room_of(topics, context.settings)
    most = payable(context) / max(1, topics) - ANSWER_TOKENS
    paid = int(max(LEAST_ROOM, min(room, most)))
    room = await context.noted("room", f"round {number}", paid, room)
    return await readable(context.judging, room, seconds, topics)


async def _judge(
    context: SessionContext, state: ResearchState, topic: Topic, room: int, seconds: float
) -> tuple[Judgement, list[Passage], list[Problem]]:
    pages = {page.content_hash: page for page in state.get("pages", {}).values()}
    passages = state.get("passages", {}).get(topic.name, [])
    texts = {p.content_hash: await context.pages.get(p.content_hash) for p in passages}
    passages = passages if room else join_passages(passages, texts)

    def work() -> tuple[list[PassageView], list[Passage]]:
        # Leave out prompt injections, so that no model role can see or quote them.
        parts = [
            (part, p)
            for p in passages
            for part in to_people(show_passage(pages[p.content_hash], texts[p.content_hash], p))
        ]
        kept = [part for part, _ in parts]
        kept = first_within(kept, room) if room else kept
        return kept, list(dict.fromkeys(p for _, p in parts[: len(kept)]))

    heard, seen = await asyncio.to_thread(work)
    known = [e for e in state.get("evidence", []) if e.topic == topic.name]
    judgement, problems = await assess(
        context.judging, state["plan"], topic, heard, known, seconds=seconds
    )
    read = {pages[digest]: text for digest, text in texts.items()}

    def complete(late: Late) -> tuple[Judgement, list[Problem]]:
        whole, lost = confirm_fact(state["plan"], topic, judgement, heard, late)
        return with_tables(topic, with_lists(state["plan"], topic, whole, heard), read), lost

    at = ["confirm", topic.name, len(state.get("rounds", []))]
    whole, lost = await context.run_in_time(CONFIRMING * seconds, at, complete)
    return whole, seen, [*problems, *lost]


def _as_judged(
    known: Sequence[Evidence], judgement: Judgement, old: Coverage | None
) -> list[Evidence]:
    found = [
        e
        for spot in judgement.spots
        for e in known
        if e.content_hash == spot.page.content_hash and e.start < spot.end and spot.start < e.end
    ]
    named = [columns for e in found if (columns := columns_of(e, known))]
    before = old.evidence_ids if old and not old.near else ()
    rested = [e for e in known if e.id in before]
    if not judgement.covered:
        # An open topic's earlier quotes are kept only as far as they and the new quotes fit in ROOM
        # characters.
        sizes = accumulate((len(e.quote) for e in rested), initial=sum(len(e.quote) for e in found))
        rested = [e for e, size in zip(rested, list(sizes)[1:], strict=True) if size <= ROOM]
    return list(dict.fromkeys([*named, *found, *rested]))


def _coverage(
    topic: Topic, judgement: Judgement, known: Sequence[Evidence], completeness: float
) -> Coverage:
    met = bool(known) and holds_expected(topic, known)
    covered = judgement.covered and judgement.score >= completeness and met
    return Coverage(
        topic=topic.name,
        covered=covered,
        score=round(judgement.score, 3) if known else 0.0,
        evidence_ids=tuple(e.id for e in known),
        gaps=judgement.gaps,
        recommendations=judgement.recommendations,
        quality=judgement.quality,
        judge=judgement.judge,
        near=judgement.near,
    )


def score_topics(
    round_: int, before: Mapping[str, Coverage], after: Mapping[str, Coverage]
) -> Iterator[Scored]:
    """Yield an event for each topic judged in a round."""
    for name, coverage in after.items():
        old = before.get(name)
        known = old.evidence_ids if old else ()
        new = tuple(id_ for id_ in coverage.evidence_ids if id_ not in known)
        yield Scored(
            topic=name,
            round=round_,
            before=old.score if old else 0.0,
            score=coverage.score,
            quality_before=old.quality.mean if old and old.quality else None,
            quality=coverage.quality.mean if coverage.quality else None,
            by="code" if coverage.judge == CODE else "model",
            why=_why(old, coverage, len(new)),
            evidence=new,
        )


def checked_scores(
    round_: int, before: Mapping[str, Coverage], after: Mapping[str, Coverage]
) -> Iterator[Scored]:
    """Yield an event for each score that verification changed."""
    for name, coverage in after.items():
        old = before.get(name)
        if old is not None and old.score != coverage.score:
            yield Scored(
                topic=name,
                round=round_,
                step="verify",
                before=old.score,
                score=coverage.score,
                by="code",
                why="Quotes that are no longer in their pages do not count.",
            )


def _why(old: Coverage | None, coverage: Coverage, new: int) -> str:
    if new:
        said = f"{new} new {'quote' if new == 1 else 'quotes'}"
        return f"{said}, {len(coverage.evidence_ids)} in total."
    if old is None:
        return "No quotes were found for this topic."
    if old.score == coverage.score:
        return "Nothing new was found, so the score is unchanged."
    same = len(coverage.evidence_ids)
    return f"Judged again on the same {'quote' if same == 1 else f'{same} quotes'}."


async def fuse_finds(context: SessionContext, state: ResearchState) -> dict[str, Any]:
    """Return all pages, the latest round's passages and, after the first round, any new plan."""
    number = max(task.round for task in state["tasks"])
    tasks = [task for task in state["tasks"] if task.round == number]
    pages, uncompared = await _fused_pages(context, state, number)
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


async def _fused_pages(
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

"""Finish a run that was cut off, without using a model."""

from __future__ import annotations

import asyncio
import time
from typing import cast

from spadework.agents.extractive import lead as extractive_lead
from spadework.graph.context import SessionContext
from spadework.graph.finish import citations_of, result_of
from spadework.graph.followup.earlier_report import as_it_was, keep
from spadework.graph.followup.recheck import Base, check_changed
from spadework.graph.followup.revise import extend_report
from spadework.graph.nodes.assess import after, assess_round
from spadework.graph.nodes.verify import Check, verify_ledger, verify_sections
from spadework.graph.nodes.write import compose_report
from spadework.graph.state import Earlier, ResearchState, proofs
from spadework.tools.stores.disk import DiskHangs, in_time
from spadework.values import Problem, Question, Result

JUDGING, LEAST_SECONDS = 0.5, 1.0
MOST_PASSAGES = 12
LATE_REPORT = "Time ran out before the report was written and checked."
LATE_TOPIC = "Time ran out before the pages for this topic could be evaluated."


async def closed_by_code(context: SessionContext, state: ResearchState, question: str) -> Result:
    """Compose a cut-off run's report without a model, store it, and return the result."""
    before, closed = state.get("before"), await _judge_unjudged(context, state)
    if before is None:
        closed = await _write_by_code(context, closed, question)
    elif closed["turn"].kind == "form":
        closed = cast("ResearchState", {**closed, **as_it_was(before)})
    else:
        closed = await _follow_by_code(context, closed, before)
    closed["stopped_by"] = "time"
    context.page_cache.keep(closed.get("pages", {}).values(), context.pages.get)
    result = result_of(context, closed)
    if not context.journal.hangs:
        try:
            await in_time(keep(context, closed, result), context.folder / "session.sqlite", 0)
        except DiskHangs:
            context.journal.hangs = True
    return result


async def _judge_unjudged(context: SessionContext, state: ResearchState) -> ResearchState:
    until = time.monotonic() + max(LEAST_SECONDS, JUDGING * context.budget.seconds_left())
    finds, context.judging = state.get("finds", []), None
    read = {page.url: page for find in finds for page in find.pages}
    state = {**state, "pages": read | state.get("pages", {})}
    topics = {task.topic.name: task for task in state.get("tasks", [])}
    for name in [name for name in topics if name not in state.get("coverage", {})]:
        found = [p for find in finds if find.topic == name for p in find.passages]
        if not (passages := state.get("passages", {}).get(name) or found):
            continue
        best = sorted(passages, key=lambda p: -p.score)[:MOST_PASSAGES]
        effect = "The best passages were judged without the model."
        try:
            async with asyncio.timeout(until - time.monotonic()):
                only: ResearchState = {**state, "tasks": [topics[name]], "passages": {name: best}}
                judged = await assess_round(context, only)
            # Only a single topic was judged, so do not count this as a round.
            state = {**after(state, judged), "rounds": state.get("rounds", [])}
        except TimeoutError:
            effect = "None of these pages was used as evidence."
        problem = Problem(stage="judge", subject=name, reason=LATE_TOPIC, effect=effect)
        state = {**state, "problems": [*state.get("problems", []), problem]}
    return state


async def _write_by_code(
    context: SessionContext, state: ResearchState, question: str
) -> ResearchState:
    plan = state.get("plan") or extractive_lead.plan(Question(text=question), [])
    made = await compose_report(context, {**state, "plan": plan}, None)
    evidence, composed = proofs(state), "The report was composed from quotes, without the model."
    late = Problem(stage="writer", subject="report", reason=LATE_REPORT, effect=composed)
    texts = await context.pages.texts(e.content_hash for e in evidence)
    material, _ = verify_ledger(evidence, texts, plan.question, plan.language)
    kept = await verify_sections(None, plan, made["sections"], material, Check(0))
    changes = {
        "plan": plan,
        "sections": list(kept.sections),
        "citations": citations_of(kept, material.ledger),
        "problems": [*state.get("problems", []), *made["problems"], late],
    }
    return cast("ResearchState", {**state, **made, **changes})


async def _follow_by_code(
    context: SessionContext, state: ResearchState, before: Earlier
) -> ResearchState:
    now: ResearchState = {"plan": before.plan, **state}
    now = cast("ResearchState", {**now, **await extend_report(context, now, None, before)})
    evidence, plan = proofs(now), now["plan"]
    texts = await context.pages.texts(e.content_hash for e in evidence)
    material, _ = verify_ledger(evidence, texts, plan.question, plan.language)
    base = Base(before.sections, before.citations)
    changes = await check_changed(now, None, base, material, Check(0, summed=False))
    return {**now, "sections": changes["sections"], "citations": changes["citations"]}

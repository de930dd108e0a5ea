"""Closing by code of a run that was cut off: what was read is judged as time allows, and the ledger
is reported.
"""

from __future__ import annotations

import asyncio
import time
from typing import cast

from spadework.agents import writer
from spadework.agents.extractive import lead as extractive_lead
from spadework.agents.outline import by_topic
from spadework.graph.context import SessionContext
from spadework.graph.finish import citations_of, result_of
from spadework.graph.followup.earlier_report import as_it_was, keep
from spadework.graph.followup.recheck import Base, check_changed
from spadework.graph.followup.revise import extend_report
from spadework.graph.nodes.assess import after, assess_round
from spadework.graph.nodes.verify import Check, verify_ledger, verify_sections
from spadework.graph.nodes.write import find_disputes
from spadework.graph.state import Earlier, ResearchState, proofs
from spadework.tools.stores.disk import DiskHangs, in_time
from spadework.values import Problem, Question, Result

#: Share of the remaining time for judging, and the minimum seconds.
JUDGING, LEAST_SECONDS = 0.5, 1.0
#: Maximum passages judged per topic, best first.
MOST_PASSAGES = 12
#: Note in a report that was cut off.
LATE_REPORT = "The time was over before the report was written and checked."
LATE_TOPIC = "The time was over before what was read for it was judged."


async def closed_by_code(context: SessionContext, state: ResearchState, question: str) -> Result:
    """Return the result of a run that was cut off: the ledger, written and verified without a
    model; a followed-up report with the new findings.
    """
    before = state.get("before")
    closed: ResearchState
    state = await _judge_unjudged(context, state)
    if before is None:
        closed = await _write_by_code(context, state, question)
    elif state["turn"].kind == "form":
        closed = cast("ResearchState", {**state, **as_it_was(before)})
    else:
        closed = await _follow_by_code(context, state, before)
    closed["stopped_by"] = "time"
    context.page_cache.keep(state.get("pages", {}).values(), context.pages.get)
    result = result_of(context, closed)
    if not context.journal.hangs:
        try:
            await in_time(keep(context, closed, result), context.folder / "session.sqlite", 0)
        except DiskHangs:
            context.journal.hangs = True
    return result


async def _judge_unjudged(context: SessionContext, state: ResearchState) -> ResearchState:
    """Return the state with topics whose passages were never judged, each judged by code as time
    allows, and a problem for each.
    """
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
        effect = "Code has judged the best of it."
        try:
            async with asyncio.timeout(until - time.monotonic()):
                only: ResearchState = {**state, "tasks": [topics[name]], "passages": {name: best}}
                judged = await assess_round(context, only)
            # Judging one topic is not a round.
            state = {**after(state, judged), "rounds": state.get("rounds", [])}
        except TimeoutError:
            effect = "Nothing of it is in the evidence."
        problem = Problem(stage="judge", subject=name, reason=LATE_TOPIC, effect=effect)
        state = {**state, "problems": [*state.get("problems", []), problem]}
    return state


async def _write_by_code(
    context: SessionContext, state: ResearchState, question: str
) -> ResearchState:
    plan = state.get("plan") or extractive_lead.plan(Question(text=question), [])
    evidence = proofs(state)
    late = Problem(
        stage="writer", subject="report", reason=LATE_REPORT, effect="Code has composed it."
    )
    written, _ = await writer.write(None, plan, by_topic(plan, evidence), seconds=0)
    texts = await context.pages.texts(e.content_hash for e in evidence)
    material, _ = verify_ledger(evidence, texts, plan.question, plan.language)
    kept = await verify_sections(None, plan, written, material, Check(0))
    disputes, uncompared = await find_disputes(context, {**state, "plan": plan}, texts)
    return {
        **state,
        "plan": plan,
        "sections": list(kept.sections),
        "citations": citations_of(kept, material.ledger),
        "conflicts": disputes,
        "problems": [*state.get("problems", []), *uncompared, late],
    }


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

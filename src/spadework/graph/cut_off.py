"""A run that was cut off in any node is closed by code: what the ledger holds is handed over."""

from __future__ import annotations

from typing import cast

from spadework.agents import writer
from spadework.agents.extractive import lead as extractive_lead
from spadework.agents.outline import by_topic
from spadework.graph.closing import citations_of, result_of
from spadework.graph.composing import find_disputes
from spadework.graph.earlier import as_it_was, keep
from spadework.graph.rechecking import Base, check_changed
from spadework.graph.revising import extend_report
from spadework.graph.session_context import SessionContext
from spadework.graph.state import Earlier, ResearchState, proving
from spadework.graph.verifying import Check, standing, verify_sections
from spadework.tools.stores.disk import DiskHangs, in_time
from spadework.values import Question, Result


async def closed_by_code(context: SessionContext, state: ResearchState, question: str) -> Result:
    """The result of a run that was cut off: what the ledger holds, written and verified without a
    model. A report that is followed up stands, with what was found for it.
    """
    before = state.get("before")
    closed: ResearchState
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


async def _write_by_code(
    context: SessionContext, state: ResearchState, question: str
) -> ResearchState:
    plan = state.get("plan") or extractive_lead.plan(Question(text=question), [])
    evidence = proving(state)
    written, _ = await writer.write(None, plan, by_topic(plan, evidence), seconds=0)
    texts = await context.pages.texts(e.content_hash for e in evidence)
    material, _ = standing(evidence, texts, plan.question, plan.language)
    kept = await verify_sections(None, plan, written, material, Check(0))
    disputes, uncompared = await find_disputes(context, {**state, "plan": plan}, texts)
    return {
        **state,
        "plan": plan,
        "sections": list(kept.sections),
        "citations": citations_of(kept, material.ledger),
        "conflicts": disputes,
        "problems": [*state.get("problems", []), *uncompared],
    }


async def _follow_by_code(
    context: SessionContext, state: ResearchState, before: Earlier
) -> ResearchState:
    now: ResearchState = {"plan": before.plan, **state}
    now = cast("ResearchState", {**now, **await extend_report(context, now, None, before)})
    evidence, plan = proving(now), now["plan"]
    texts = await context.pages.texts(e.content_hash for e in evidence)
    material, _ = standing(evidence, texts, plan.question, plan.language)
    base = Base(before.sections, before.citations)
    changes = await check_changed(now, None, base, material, Check(0, summed=False))
    return {**now, "sections": changes["sections"], "citations": changes["citations"]}

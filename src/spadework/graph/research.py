"""Run the research loop. Start reading here: this module contains only nodes and edges.

open ─▶ receive ─▶ clarify ─▶ plan ─▶ approve ─▶ worker × topic ─▶ fuse ─▶ assess
                                                       ▲                     │
                                                       └──── gaps only ◀─────┤
                                                                             ▼
                                          save ◀─ edit ◀─ verify ◀───────── write
A follow-up can go from `receive` to `write`, or to `revise` and then `verify`. `edit` can return
to the workers or to `write`, but only once.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from spadework.deadline import CLOSING_DRAFTS
from spadework.errors import SpadeworkError
from spadework.events import Assessed, Finished, Foreseen, Planned, Wrote
from spadework.graph import routes
from spadework.graph.context import checked_session_id, context_of, emitter, new_session_id
from spadework.graph.effort.model_policy import begin, judge, judge_in_time, leave_out
from spadework.graph.finish import DiskStopped, nothing_left, result_of, stopped_by
from spadework.graph.followup.earlier_report import keep
from spadework.graph.followup.recheck import (
    base_of,
    check_changed,
    known_findings,
    rewritten,
    whole,
)
from spadework.graph.followup.revise import extend_report, receive, revised
from spadework.graph.nodes.assess import (
    after,
    assess_round,
    checked_scores,
    fuse_finds,
    score_topics,
)
from spadework.graph.nodes.edit import review_report
from spadework.graph.nodes.gather import worker
from spadework.graph.nodes.plan import (
    approve,
    clarify,
    foreseen,
    foreseen_unplanned,
    make_plan,
    today,
)
from spadework.graph.nodes.recall import earlier_pages
from spadework.graph.nodes.verify import Check, still_proven, verify_ledger
from spadework.graph.nodes.write import compose_report
from spadework.graph.pages.fetch import attached_pages
from spadework.graph.pictures import fetch_pictures
from spadework.graph.report import draft
from spadework.graph.routes import price
from spadework.graph.state import (
    GIVEN,
    ResearchInput,
    ResearchOutput,
    ResearchState,
    WorkerOutput,
    WorkerState,
    checked_input,
    left_over,
    proofs,
    register_values,
)
from spadework.settings import Settings
from spadework.tools.stores.private_files import disk_fault
from spadework.values import Problem

#: LangGraph's name for the workers' error handler.
WORKER_FAILED = "__error_handler__worker"

#: The compiled graph. Callers pass only the fields of `ResearchInput` to it.
Graph = CompiledStateGraph[ResearchState, Settings, ResearchState, ResearchOutput]


async def open_session(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Validate the input, assign the session id, and read the attachments."""
    given = checked_input(state)
    named = state.get("session_id", "")
    fresh = not named or named == state.get("opened")
    session_id = checked_session_id(new_session_id() if fresh else named)
    context = await context_of(session_id, runtime.context)
    emit = emitter(context, runtime)
    left_out, foretold = await leave_out(context, emit), None
    if not given["follows"]:  # A follow-up may need no research.
        foretold = await foreseen_unplanned(context, state["question"])
        emit(Foreseen(forecast=foretold))
    # The text of a follow-up might not name its subject, so the library is indexed without it.
    await context.index_library("" if given["follows"] else state["question"])
    attached, problems = await attached_pages(context, given["attachments"])
    cleared = left_over(state)
    problems = [*context.problems, *left_out, *problems]
    return {
        **cleared,
        **given,
        "session_id": session_id,
        "opened": session_id,
        "asked_on": today(),
        "forecast": foretold,
        "attached": attached,
        "problems": Overwrite(problems) if cleared else problems,
    }


async def plan(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Divide the question into topics, and add pages from the session being followed up."""
    context = await context_of(state["session_id"], runtime.context)
    question = routes.question_of(state)
    emit = emitter(context, runtime)
    made, problems, seconds = await make_plan(context, question, emit)
    known = await earlier_pages(context, state.get("follows", ""), made)
    first = state.get("forecast")
    foretold = await foreseen(context, made, seconds, follows=bool(state.get("follows")))
    told = first and (first.runs or first == foretold)
    emit(Planned(plan=made, forecast=None if told else foretold))
    begin(context)
    return {
        "plan": made,
        "forecast": first or foretold,
        "plan_seconds": seconds,
        "attached": [*state.get("attached", []), *known],
        "problems": problems,
    }


async def worker_failed(state: WorkerState, error: NodeError) -> WorkerOutput:
    """Turn a worker's failure into a problem. Raises DiskStopped if the disk failed."""
    if fault := disk_fault(error.error):
        raise DiskStopped(fault) from fault
    # Messages of errors other than SpadeworkError might reveal local paths.
    ours = isinstance(error.error, SpadeworkError)
    said = str(error.error) if ours else type(error.error).__name__
    topic, effect = state["task"].topic.name, "This round found nothing for the topic."
    return {"problems": [Problem(stage="worker", subject=topic, reason=said[:300], effect=effect)]}


async def fuse(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Merge the workers' pages, rank them across all topics, and mark pages that copy others."""
    context = await context_of(state["session_id"], runtime.context)
    await judge(context, f"fuse {len(state.get('rounds', []))}")
    changes = await fuse_finds(context, state)
    if made := changes.get("plan"):
        emitter(context, runtime)(Planned(plan=made))
    return changes


async def assess(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Judge this round's topics, and create tasks for the gaps."""
    context = await context_of(state["session_id"], runtime.context)
    _, unfit = await judge(context, f"assess {len(state.get('rounds', []))}")
    judged = await assess_round(context, state)
    known, number = after(state, judged), judged["rounds"][0].number
    emit, before = emitter(context, runtime), state.get("coverage", {})
    for event in score_topics(number, before, judged["coverage"]):
        emit(event)
    emit(
        Assessed(
            round=number,
            coverage=tuple(known["coverage"].values()),
            evidence=len(known["evidence"]),
            usage=context.budget.used,
        )
    )
    began = time.monotonic()
    emit(Wrote(markdown=draft(known)))
    took = await context.noted("drafted", number, time.monotonic() - began, 0.0)
    context.budget.reserve = max(context.budget.reserve, CLOSING_DRAFTS * took)
    stop = await context.was_stopped(f"round {number}")
    cost = await price(context, known)
    ended = partial(stopped_by, known, context.budget, context.settings, cost)
    why = "stop" if stop else await asyncio.to_thread(ended)
    work = context.workload(state["plan"])
    tasks = (
        [] if why else await asyncio.to_thread(routes.gap_tasks, known, context.budget, work, cost)
    )
    return {
        **judged,
        "problems": [*unfit, *judged["problems"]],
        "tasks": tasks,
        "stopped_by": why or ("" if tasks else nothing_left(known)),
    }


async def write(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Write the report from the ledger of quotes."""
    context = await context_of(state["session_id"], runtime.context)
    context.budget.writes()
    model, _ = await judge_in_time(context, "write")
    context.page_cache.keep(state.get("pages", {}).values(), context.pages.get)
    if review := state.get("review"):
        return await rewritten(context, state, review, model)
    if before := state.get("before"):
        return await extend_report(context, state, model, before)
    return await compose_report(context, state, model)


async def verify(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Check every sentence, repair those that fail, and summarize what passes."""
    context, made = await context_of(state["session_id"], runtime.context), state["plan"]
    context.budget.writing = True
    ledger = proofs(state)
    texts = await context.pages.texts(e.content_hash for e in ledger)
    # Names from the question are accepted, and a follow-up may contain new names, so check against
    # the follow-up as well.
    asked = "\n".join(dict.fromkeys([made.question, state.get("question", "")]))
    material, lost = verify_ledger(ledger, texts, asked, made.language)
    model, unfit = await judge_in_time(context, "verify")
    base = base_of(state)
    check = Check(
        context.budget.phase("write"),
        thorough=context.settings.effort != "quick" and not (base and base.better),
        summed=base is None,
        known=known_findings(state),
        asked_on=state.get("asked_on", ""),
        names=state.get("names", []),
    )
    changes = await (
        check_changed(state, model, base, material, check)
        if base
        else whole(state, model, material, check)
    )
    if state.get("before") is None:
        # This run neither revises nor extends a report (`before`), so its rounds have already
        # reported the problems in `unfit`.
        before = state.get("coverage", {})
        unfit, changes["coverage"] = [], still_proven(before, material)
        emit = emitter(context, runtime)
        for event in checked_scores(len(state.get("rounds", [])), before, changes["coverage"]):
            emit(event)
    return {**changes, "problems": [*unfit, *lost, *changes["problems"]]}


async def edit(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """At the deep effort level, have an editor review the report."""
    return await review_report(await context_of(state["session_id"], runtime.context), state)


async def save(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Compose the result, store it for follow-ups, and return it."""
    context = await context_of(state["session_id"], runtime.context)
    await context.was_stopped("save")
    kept, none = context.page_cache.settle, list[Problem]()
    late = await context.journal.moment("late problems", "", list[Problem], kept, none)
    await context.note_searching()
    pictures = await fetch_pictures(context, state)
    result = result_of(context, state, late, pictures)
    await keep(context, state, result)
    emit = emitter(context, runtime)
    emit(Wrote(markdown=result.report, final=True))
    # Do not record this event yet. The session records it after writing its files.
    runtime.stream_writer(Finished(result=result).model_dump(mode="json"))
    if context.owned_by_graph:
        await context.close()
    return {**GIVEN, "report": result.report, "result": result}


def _builder() -> StateGraph[ResearchState, Settings, ResearchState, ResearchOutput]:
    builder = StateGraph(
        ResearchState,
        context_schema=Settings,
        input_schema=cast("type[ResearchState]", ResearchInput),
        output_schema=ResearchOutput,
    )
    builder.add_node("open", open_session)
    builder.add_node("revise", revised)
    # A round's workers and their error handlers form one graph step, so `fuse` runs once per
    # round, not once per worker.
    for node in (receive, clarify, plan, approve, fuse, assess, write, verify, edit, save):
        builder.add_node(node)
    builder.add_node(
        "worker",
        worker,
        error_handler=worker_failed,  # pyright: ignore[reportArgumentType]  # as documented
        destinations=(WORKER_FAILED,),
    )
    builder.add_edge(START, "open")
    builder.add_edge("open", "receive")
    builder.add_conditional_edges("receive", routes.received, ["revise", "write", "clarify"])
    builder.add_edge("revise", "verify")
    builder.add_edge("clarify", "plan")
    builder.add_edge("plan", "approve")
    builder.add_conditional_edges("approve", routes.workers, ["worker", "write"])
    builder.add_edge("worker", "fuse")
    builder.add_edge(WORKER_FAILED, "fuse")
    builder.add_edge("fuse", "assess")
    builder.add_conditional_edges("assess", routes.after_assess, ["worker", "write"])
    builder.add_edge("write", "verify")
    builder.add_edge("verify", "edit")
    builder.add_conditional_edges("edit", routes.after_review, ["worker", "write", "save"])
    builder.add_edge("save", END)
    return builder


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """Return a compiled graph that saves its state with `checkpointer`."""
    return graph.copy({"checkpointer": checkpointer})


register_values()
#: The graph for LangGraph servers, which provide a checkpointer.
graph: Graph = _builder().compile(name="research")

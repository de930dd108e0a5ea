"""The loop. Start reading here: nodes and edges only.

open ─▶ receive ─▶ clarify? ─▶ plan ─▶ approve? ─▶ worker × topic ─▶ fuse ─▶ assess ─┬─▶ write ─▶
verify ─▶ edit ─▶ save │                            ▲                                │   ▲   ▲  │
                       │                            ├──────── gap tasks only ◀───────┘   │   │  │
                       │                            └──────── what the editor misses ◀─ once ┼──┘
                       ├─▶ revise: another form of the report that is followed up ───────────┘
                       └─▶ write: what was proven before answers a follow-up
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send

from spadework.errors import SettingsError, SpadeworkError
from spadework.events import Assessed, Finished, Planned, Wrote
from spadework.graph import routes, stored, worker
from spadework.graph.again import price
from spadework.graph.asking import approve, clarify
from spadework.graph.assessing import assess_round
from spadework.graph.closing import draft, result_of
from spadework.graph.composing import composed
from spadework.graph.desk import (
    desk_of,
)
from spadework.graph.earlier import keep
from spadework.graph.emit import emitter
from spadework.graph.fetching import attached_pages
from spadework.graph.fusing import fused
from spadework.graph.judging import begin, judge
from spadework.graph.planning import foreseen, planned, today
from spadework.graph.recalling import earlier_pages
from spadework.graph.rechecking import base_of, checked, judging, whole
from spadework.graph.reviewing import reviewed
from spadework.graph.revising import extended, receive, revised
from spadework.graph.rewriting import known_findings, rewritten
from spadework.graph.scoring import checked_scores, scored
from spadework.graph.session_id import (
    checked_session_id,
    new_session_id,
)
from spadework.graph.state import (
    GIVEN,
    ResearchInput,
    ResearchOutput,
    ResearchState,
    WorkerOutput,
    WorkerState,
    left_over,
    proving,
)
from spadework.graph.stopping import DiskStopped
from spadework.graph.verifying import Check, standing, still_proven
from spadework.graph.waiting import stopped
from spadework.settings import Settings
from spadework.tools.disk_faults import disk_fault
from spadework.values import Problem

#: The node that LangGraph makes of a worker's error handler.
WORKER_FAILED = "__error_handler__worker"

#: Callers give a part of the state; what it may be is `ResearchInput`.
Graph = CompiledStateGraph[ResearchState, Settings, ResearchState, ResearchOutput]


async def open_session(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Check the question, give the session its id, and read the files that came along."""
    question: Any = state.get("question")  # a server passes on whatever it is given
    if not isinstance(question, str) or not question.strip():
        raise SettingsError("The question is empty: say what you want to know.")
    named = state.get("session_id", "")
    fresh = not named or named == state.get("opened")
    session_id = checked_session_id(new_session_id() if fresh else named)
    desk = await desk_of(session_id, runtime.context)
    attached, problems = await attached_pages(desk, state.get("attachments", []))
    cleared = left_over(state)
    problems = [*desk.problems, *problems]
    met = Overwrite(problems) if cleared else problems
    return {
        **cleared,
        "session_id": session_id,
        "opened": session_id,
        "asked_on": today(),
        "attached": attached,
        "problems": met,
    }


async def plan(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Split the question into topics, after a first broad search unless a model does it quickly.
    Find what is known from before.
    """
    desk = await desk_of(state["session_id"], runtime.context)
    question = routes.question_of(state)
    emit = emitter(desk, runtime)
    made, problems, seconds = await planned(desk, question, emit)
    known = await earlier_pages(desk, state.get("follows", ""), made)
    foretold = await foreseen(desk, made, seconds, follows=bool(state.get("follows")))
    emit(Planned(plan=made, forecast=foretold))
    begin(desk)
    return {
        "plan": made,
        "forecast": foretold,
        "plan_seconds": seconds,
        "attached": [*state.get("attached", []), *known],
        "problems": problems,
    }


async def worker_failed(state: WorkerState, error: NodeError) -> WorkerOutput:
    """One worker lost is not the run lost: it becomes a problem, and the others go on. Raises
    DiskStopped where the disk failed it, which fails them all.
    """
    if fault := disk_fault(error.error):
        raise DiskStopped(fault) from fault
    # What an error of ours says is meant for people; any other may name paths of this machine.
    ours = isinstance(error.error, SpadeworkError)
    said = str(error.error) if ours else type(error.error).__name__
    problem = worker.lost(state["task"].topic.name, said[:300])
    return {"problems": [problem]}


async def fuse(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Merge what the workers brought: every page once, ranked over all topics, near-copies under
    one origin.
    """
    desk = await desk_of(state["session_id"], runtime.context)
    await judge(desk, f"fuse {len(state.get('rounds', []))}")
    return await fused(desk, state)


async def assess(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Judge the topics of this round on the ledger, and name the tasks that would fill the gaps."""
    desk = await desk_of(state["session_id"], runtime.context)
    _, unfit = await judge(desk, f"assess {len(state.get('rounds', []))}")
    judged = await assess_round(desk, state)
    known = judged.after(state)
    emit, before = emitter(desk, runtime), state.get("coverage", {})
    for event in scored(judged.round, before, judged.coverage, by_model=desk.judging is not None):
        emit(event)
    emit(
        Assessed(
            round=judged.round.number,
            coverage=tuple(known["coverage"].values()),
            evidence=len(known["evidence"]),
            usage=desk.budget.used,
        )
    )
    emit(Wrote(markdown=draft(known)))
    stop = await stopped(desk.journal, desk.stop, f"round {judged.round.number}")
    cost = await price(desk, known)
    ended = partial(routes.stopped_by, known, desk.budget, desk.settings, cost)
    why = "stop" if stop else await asyncio.to_thread(ended)
    work = desk.workload(state["plan"])
    tasks = [] if why else await asyncio.to_thread(routes.gap_tasks, known, desk.budget, work, cost)
    return {
        **judged.channels(),
        "problems": [*unfit, *judged.problems],
        "tasks": tasks,
        "stopped_by": why or ("" if tasks else "nothing left to ask"),
    }


async def write(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Compose the report from the ledger and write its sections, all in one wave; set what
    disagrees side by side.
    """
    desk = await desk_of(state["session_id"], runtime.context)
    model = None if desk.budget.until_closing() <= 0 else (await judge(desk, "write"))[0]
    desk.knowing.keep(state.get("pages", {}).values(), desk.pages.get)
    desk.budget.writes()
    if review := state.get("review"):
        return await rewritten(desk, state, review, model)
    if before := state.get("before"):
        return await extended(desk, state, model, before)
    return await composed(desk, state, model)


async def verify(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Check every sentence, have mended what does not hold, and sum up what does."""
    desk, made = await desk_of(state["session_id"], runtime.context), state["plan"]
    ledger = proving(state)
    texts = await desk.pages.texts(e.content_hash for e in ledger)
    # A follow-up that goes on from a report names things of its own.
    asked = "\n".join(dict.fromkeys([made.question, state.get("question", "")]))
    material, lost = standing(ledger, texts, asked, made.language)
    model, unfit = await judging(desk, "verify")
    base = base_of(state)
    check = Check(
        desk.budget.phase("write"),
        thorough=desk.settings.effort != "quick" and not (base and base.better),
        summed=base is None,
        known=known_findings(state),
        asked_on=state.get("asked_on", ""),
        names=state.get("names", []),
    )
    changes = await (
        checked(state, model, base, material, check)
        if base
        else whole(state, model, material, check)
    )
    if state.get("before") is None:
        # Why code judges was said in the rounds before, which another form of a report has not.
        before = state.get("coverage", {})
        unfit, changes["coverage"] = [], still_proven(before, material)
        emit = emitter(desk, runtime)
        for event in checked_scores(len(state.get("rounds", [])), before, changes["coverage"]):
            emit(event)
    return {**changes, "problems": [*unfit, *lost, *changes["problems"]]}


async def edit(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Let an editor read the report in deep effort; what it finds weak goes back once."""
    return await reviewed(await desk_of(state["session_id"], runtime.context), state)


async def save(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Compose the result and hand it over."""
    desk = await desk_of(state["session_id"], runtime.context)
    await stopped(desk.journal, desk.stop, "save")
    await desk.journal.note("waits", "", desk.search.waits.sentences())
    none = list[Problem]()
    late = await desk.journal.moment("late problems", "", list[Problem], desk.knowing.kept, none)
    result = result_of(desk, state, late)
    await keep(desk, state, result)
    emit = emitter(desk, runtime)
    emit(Wrote(markdown=result.report, final=True))
    # A session tells it when its files are written.
    runtime.stream_writer(Finished(result=result).model_dump(mode="json"))
    if desk.owned_by_graph:
        await desk.close()
    return {**GIVEN, "report": result.report, "result": result}


def after_assess(state: ResearchState) -> list[Send] | str:
    """Workers for the gaps, or the writer."""
    return "write" if state.get("stopped_by") else routes.workers(state)


def _builder() -> StateGraph[ResearchState, Settings, ResearchState, ResearchOutput]:
    builder = StateGraph(
        ResearchState,
        context_schema=Settings,
        input_schema=cast("type[ResearchState]", ResearchInput),
        output_schema=ResearchOutput,
    )
    builder.add_node("open", open_session)
    builder.add_node(receive)
    builder.add_node("revise", revised)
    builder.add_node(clarify)
    builder.add_node(plan)
    builder.add_node(approve)
    builder.add_node(
        "worker", worker.worker, error_handler=worker_failed, destinations=(WORKER_FAILED,)
    )
    # The workers of a round are one step of the graph, a failed one with its handler too: `fuse`
    # follows once, after them all.
    builder.add_node(fuse)
    builder.add_node(assess)
    builder.add_node(write)
    builder.add_node(verify)
    builder.add_node(edit)
    builder.add_node(save)
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
    builder.add_conditional_edges("assess", after_assess, ["worker", "write"])
    builder.add_edge("write", "verify")
    builder.add_edge("verify", "edit")
    builder.add_conditional_edges("edit", routes.after_review, ["worker", "write", "save"])
    builder.add_edge("save", END)
    return builder


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """The compiled graph, saving its state with `checkpointer`."""
    return graph.copy({"checkpointer": checkpointer})


stored.register()
#: The graph without a checkpointer, as LangGraph servers want it.
graph: Graph = _builder().compile(name="research")

"""The loop. Start reading here: nodes and edges only.

open ─▶ clarify? ─▶ plan ─▶ approve? ─▶ worker × topic ─▶ fuse ─▶ assess ─┬─▶ write ─▶ verify ─▶
save
                                         ▲                                │
                                         └──────── gap tasks only ◀───────┘
"""

from __future__ import annotations

from typing import Any, cast

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import NodeError
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime
from langgraph.types import Overwrite, Send

from spadework.agents.doubt import clarified, doubt
from spadework.agents.edited import edited, finished
from spadework.agents.extractive.lead import in_context
from spadework.errors import SettingsError, SpadeworkError
from spadework.events import Asked, Assessed, Finished, Planned, Wrote
from spadework.graph import routes, stored, worker
from spadework.graph.asking import ask_user
from spadework.graph.assessing import assess_round
from spadework.graph.closing import citations_of, draft, result_of, reviewed
from spadework.graph.composing import composed
from spadework.graph.desk import checked_session_id, desk_of, new_session_id
from spadework.graph.emit import emitter
from spadework.graph.fetching import attached_pages
from spadework.graph.fusing import fused
from spadework.graph.judging import begin, judge
from spadework.graph.planning import foreseen, planned, today
from spadework.graph.recalling import earlier_pages
from spadework.graph.searching import first_look
from spadework.graph.state import (
    ResearchInput,
    ResearchOutput,
    ResearchState,
    WorkerOutput,
    WorkerState,
    left_over,
    proving,
)
from spadework.graph.verifying import standing, still_proven, verified
from spadework.graph.waiting import stopped
from spadework.settings import Settings
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
    session_id = checked_session_id(
        named if named and named != state.get("opened") else new_session_id()
    )
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


async def clarify(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Ask back where the question can mean several things, if the settings want that."""
    desk = await desk_of(state["session_id"], runtime.context)
    if not desk.settings.clarify:
        return {}
    question = routes.question_of(state)
    hits = [] if desk.model else await first_look(desk, in_context(question))
    asked, problems = await doubt(desk.model, question, hits, seconds=desk.budget.phase("plan"))
    answer = ask_user(desk, asked) if asked else ""
    # Without a model the question is searched as it stands, and the words of ours are no part of
    # it.
    said = asked.text if asked and desk.model else ""
    return {"question": clarified(question.text, answer, said), "problems": problems}


async def plan(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Split the question into topics, after a first broad search unless a model does it quickly.
    Find what is known from before.
    """
    desk = await desk_of(state["session_id"], runtime.context)
    question = routes.question_of(state)
    emit = emitter(runtime)
    made, problems, seconds = await planned(desk, question, emit)
    known = await earlier_pages(desk, state.get("follows", ""), made)
    emit(Planned(plan=made, forecast=foreseen(desk, made, seconds)))
    begin(desk)
    return {
        "plan": made,
        "plan_seconds": seconds,
        "attached": [*state.get("attached", []), *known],
        "problems": problems,
    }


async def approve(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Let the user approve or change the plan, if the settings want that, and name the first
    tasks.
    """
    desk = await desk_of(state["session_id"], runtime.context)
    made, seconds = state["plan"], state.get("plan_seconds", 0.0)
    problems: list[Problem] = []
    if desk.settings.approve:
        foretold = foreseen(desk, made, seconds)
        asked = Asked(kind="approve", text="Is this the plan?", plan=made, forecast=foretold)
        changed = edited(made, ask_user(desk, asked))
        made, problems = await finished(
            desk.model, changed, made, seconds=desk.budget.phase("plan", "search")
        )
    if made != state["plan"]:
        emitter(runtime)(Planned(plan=made, forecast=foreseen(desk, made, seconds)))
    known = bool(state.get("follows") and state.get("attached"))
    return {
        "plan": made,
        "problems": problems,
        "tasks": (
            routes.known_tasks(made)
            if known
            else routes.first_tasks(made, desk.budget, desk.workload(made))
        ),
    }


async def worker_failed(state: WorkerState, error: NodeError) -> WorkerOutput:
    """One worker lost is not the run lost: it becomes a problem, and the others go on."""
    # What an error of ours says is meant for people; any other may name paths of this machine.
    said = (
        str(error.error) if isinstance(error.error, SpadeworkError) else type(error.error).__name__
    )
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
    emit = emitter(runtime)
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
    why = "stop" if stop else routes.stopped_by(known, desk.budget, desk.settings)
    tasks = [] if why else routes.gap_tasks(known, desk.budget, desk.workload(state["plan"]))
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
    return await composed(desk, state, model)


async def verify(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Check every sentence, have mended what does not hold, and sum up what does."""
    desk = await desk_of(state["session_id"], runtime.context)
    ledger = proving(state)
    texts = {e.content_hash: await desk.pages.get(e.content_hash) for e in ledger}
    made = state["plan"]
    material, lost = standing(ledger, texts, made.question)
    model = None if desk.budget.until_closing() <= 0 else (await judge(desk, "verify"))[0]
    found = await verified(
        model,
        made,
        state.get("sections", []),
        material,
        seconds=desk.budget.phase("write"),
        thorough=desk.settings.effort != "quick",
    )
    return {
        "sections": list(found.sections),
        "citations": citations_of(found, material.ledger),
        "coverage": still_proven(state.get("coverage", {}), material),
        "problems": [*lost, *found.problems],
    }


async def save(state: ResearchState, runtime: Runtime[Settings]) -> ResearchOutput:
    """Compose the result and hand it over."""
    desk = await desk_of(state["session_id"], runtime.context)
    await stopped(desk.journal, desk.stop, "save")
    await desk.journal.note("waits", "", desk.search.waits.sentences())
    late = await desk.journal.moment(
        "late problems", "", list[Problem], desk.knowing.kept, list[Problem]()
    )
    result = await reviewed(desk, result_of(desk, state, late))
    emit = emitter(runtime)
    emit(Wrote(markdown=result.report, final=True))
    emit(Finished(result=result))
    if desk.owned_by_graph:
        await desk.close()
    return {"report": result.report, "result": result}


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
    builder.add_node(save)
    builder.add_edge(START, "open")
    builder.add_edge("open", "clarify")
    builder.add_edge("clarify", "plan")
    builder.add_edge("plan", "approve")
    builder.add_conditional_edges("approve", routes.workers, ["worker", "write"])
    builder.add_edge("worker", "fuse")
    builder.add_edge(WORKER_FAILED, "fuse")
    builder.add_edge("fuse", "assess")
    builder.add_conditional_edges("assess", after_assess, ["worker", "write"])
    builder.add_edge("write", "verify")
    builder.add_edge("verify", "save")
    builder.add_edge("save", END)
    return builder


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """The compiled graph, saving its state with `checkpointer`."""
    stored.register()
    return _builder().compile(checkpointer=checkpointer, name="research")


#: The graph without a checkpointer, as LangGraph servers want it.
graph = build_graph()

"""Handle one task in a subgraph: search ▸ select ▸ read ▸ clean ▸ distil."""

from __future__ import annotations

from typing import Any

from langgraph.graph import END
from langgraph.runtime import Runtime

from spadework.events import Distilled
from spadework.graph.context import context_of, emitter
from spadework.graph.effort.model_policy import judge
from spadework.graph.finish import stopped_by_disk
from spadework.graph.nodes.distil import distil_pages, need_of
from spadework.graph.nodes.gather import steps
from spadework.graph.nodes.read import was_readable
from spadework.graph.state import Find, WorkerOutput, WorkerState
from spadework.settings import Settings


async def distil(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Split the pages into passages, and keep those that fit the topic best."""
    context = await context_of(state["session_id"], runtime.context)
    task, pages = state["task"], state["pages"]
    # The number of passages kept depends on whether a model or code judges.
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

"""How a node tells the world: typed events in the record of the run, and as JSON on LangGraph's
custom stream.
"""

from __future__ import annotations

from collections.abc import Callable

from langgraph.runtime import Runtime

from spadework.events import Event
from spadework.graph.desk import Desk
from spadework.settings import Settings

Emit = Callable[[Event], None]


def emitter(desk: Desk, runtime: Runtime[Settings]) -> Emit:
    """The function that emits an event of this node."""

    def emit(event: Event) -> None:
        runtime.stream_writer(desk.record.tell(event).model_dump(mode="json"))

    return emit

"""Events of a node: typed, in the record and on LangGraph's custom stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spadework.events import Event

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from spadework.graph.context import SessionContext
    from spadework.settings import Settings

Emit = Callable[[Event], None]


def emitter(context: SessionContext, runtime: Runtime[Settings]) -> Emit:
    """Return the function that emits this node's events."""

    def emit(event: Event) -> None:
        runtime.stream_writer(context.record.tell(event).model_dump(mode="json"))

    return emit

"""How a node tells the world: typed events, as JSON on LangGraph's custom stream."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from spadework.events import Event

if TYPE_CHECKING:
    from langgraph.runtime import Runtime

    from spadework.settings import Settings

Emit = Callable[[Event], None]


def emitter(runtime: Runtime[Settings]) -> Emit:
    """The function that emits an event of this node."""
    return lambda event: runtime.stream_writer(event.model_dump(mode="json"))

"""A disk that fails under a worker ends the run. One worker lost is not the run lost, but a disk
fails them all, and a report of what it let through would look whole.
"""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from spadework.graph.state import WorkerState
from spadework.settings import Settings
from spadework.tools.stores.disk_faults import disk_fault, said_of
from spadework.visible import visible

N = TypeVar("N", bound=Callable[[WorkerState, Runtime[Settings]], Awaitable[dict[str, Any]]])


class DiskStopped(GraphBubbleUp, RuntimeError):
    """What a node was doing failed at the disk, which is the cause. LangGraph hands it on and saves
    nothing, so that a resumed run does this step again.

    A RuntimeError for the same reason as SpadeworkError: LangGraph servers tell what it says.
    """

    def __init__(self, fault: OSError | sqlite3.Error) -> None:
        why = said_of(fault) or " ".join(str(fault).split())[:150]
        super().__init__(f"The run cannot go on: {visible(why)}. What it has gathered stays.")


def stopped_by_disk(node: N) -> N:
    """A node of a worker that ends the run where the disk fails."""

    @functools.wraps(node)
    async def guarded(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
        try:
            return await node(state, runtime)
        except (OSError, sqlite3.Error, ExceptionGroup) as error:
            if fault := disk_fault(error):
                raise DiskStopped(fault) from fault
            raise

    return cast("N", guarded)

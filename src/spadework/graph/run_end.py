"""The end of a run: its reason, its status, and disk failures."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from langgraph.errors import GraphBubbleUp
from langgraph.runtime import Runtime

from spadework.budget import Budget
from spadework.deadline import ACCELERATE
from spadework.graph.effort.expected_gain import open_topics, worth_asking
from spadework.graph.routes import KNOWN
from spadework.graph.state import ResearchState, WorkerState
from spadework.settings import Settings
from spadework.tools.stores.disk_faults import disk_fault, said_of
from spadework.values import Status
from spadework.visible import visible


def stopped_by(state: ResearchState, budget: Budget, settings: Settings, price: float = 0.0) -> str:
    """Return why no further round is searched, such as "time" or a limit; "" to continue. If all
    topics are answered it is "coverage", whatever the evidence lacks.
    """
    why = _ended_by(state, budget, settings, price)
    return "coverage" if why and not open_topics(state) else why


def _ended_by(state: ResearchState, budget: Budget, settings: Settings, price: float) -> str:
    rounds = state["rounds"]
    if state.get("review"):
        # The editor's round is an extra one, for open topics.
        before = state.get("stopped_by", "")
        return "iterations" if before == "coverage" else before
    if budget.refused or budget.reckoned("plan") <= 0:
        return budget.refused or "time"
    if sum(r.number > KNOWN for r in rounds) >= budget.limits.iterations:
        return "iterations"
    last = rounds[-1]
    least = settings.marginal_utility * max(1, last.evidence_after)
    if last.number > 1 and _quotes_brought(state) < least:
        return "marginal utility"
    # A limit only counts as the end if the run would have continued.
    if last.number == KNOWN or worth_asking(state, price):
        late = budget.under(ACCELERATE) or not _fits(state, budget, settings)
        return "time" if late else budget.ended_by()
    return "price"


def nothing_left(state: ResearchState) -> str:
    """Return why a run without further queries ends."""
    return "nothing left to ask" if open_topics(state) else "coverage"


def _fits(state: ResearchState, budget: Budget, settings: Settings) -> bool:
    """Return whether there is time for another round; at quick effort, as much as earlier ones
    took.
    """
    planning = state.get("plan_seconds", 0.0)
    if settings.effort != "quick":
        return budget.fits(planning)
    taken = budget.elapsed() - planning - (budget.written or 0.0)
    return budget.reckoned("search", "read", "assess") >= taken


def _quotes_brought(state: ResearchState) -> int:
    """Return the quotes added by the last round; without a model by the last two, since code keeps
    its choice between.
    """
    alone = all(found.quality is None for found in state["coverage"].values())
    since = state["rounds"][-2:] if alone else state["rounds"][-1:]
    return since[-1].evidence_after - since[0].evidence_before


def status_of(why: str) -> Status:
    """Return the status of a run by what ended it."""
    if why == "time":
        return "time_limited"
    if why in ("stop", "nothing read"):
        return "partial"
    if why == "nothing searched":
        return "failed"
    limits = ("calls", "searches", "pages", "tokens", "money")
    return "budget_limited" if why in limits else "completed"


N = TypeVar("N", bound=Callable[[WorkerState, Runtime[Settings]], Awaitable[dict[str, Any]]])


class DiskStopped(GraphBubbleUp, RuntimeError):
    """A node's work failed at the disk, which is the cause. LangGraph passes it on and saves
    nothing, so that a resumed run repeats the step.

    A RuntimeError for the same reason as SpadeworkError: LangGraph servers pass on its message.
    """

    def __init__(self, fault: OSError | sqlite3.Error) -> None:
        why = said_of(fault) or " ".join(str(fault).split())[:150]
        super().__init__(f"The run cannot go on: {visible(why)}. What it has gathered stays.")


def stopped_by_disk(node: N) -> N:
    """Wrap a worker's node so that a disk failure ends the run."""

    @functools.wraps(node)
    async def guarded(state: WorkerState, runtime: Runtime[Settings]) -> dict[str, Any]:
        try:
            return await node(state, runtime)
        except (OSError, sqlite3.Error, ExceptionGroup) as error:
            if fault := disk_fault(error):
                raise DiskStopped(fault) from fault
            raise

    return cast("N", guarded)

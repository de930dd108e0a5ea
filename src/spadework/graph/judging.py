"""Whether the run's model may judge: it is examined while pages are read, once a home. One that
does not pass plans and searches; code judges, and composes the report.
"""

from __future__ import annotations

import asyncio

from spadework.agents.examination import Examined, examined, known_result
from spadework.agents.model import Model
from spadework.errors import BudgetSpent, ModelError
from spadework.graph.desk import Desk
from spadework.graph.waiting import Stopped, unless_stopped
from spadework.values import Problem

#: With fewer calls than this left none is spent on an examination.
FEW_CALLS = 4


def begin(desk: Desk) -> None:
    """Let the model be examined meanwhile."""
    if desk.model and desk.examination is None:
        desk.examination = asyncio.create_task(_examined(desk, desk.model))


async def judge(desk: Desk) -> tuple[Model | None, list[Problem]]:
    """The model that may judge and write; None where there is none, and why."""
    if desk.model is None:
        return None, []
    begin(desk)
    assert desk.examination is not None
    result: Examined | str
    try:
        result = await unless_stopped(
            desk.stop, _ended(desk.examination), seconds=desk.budget.until_closing()
        )
    except (Stopped, TimeoutError):
        result = "There was no time for it."
    if isinstance(result, Examined) and result.passed:
        return desk.model, []
    reason = (
        f"{result.right} of {result.asked} verdicts on sentences whose truth is known were right,"
        f" {result.let_through} false ones were called supported."
        if isinstance(result, Examined)
        else f"It could not be examined: {result}"
    )
    effect = "It planned and searched; code judged what was read and composed the report."
    name = desk.model.name("verifier")
    return None, [Problem(stage="examination", subject=name, reason=reason, effect=effect)]


async def _ended(taken: asyncio.Task[Examined | str]) -> Examined | str:
    """The result, in time; who stops waiting does not end the examination."""
    return await asyncio.shield(taken)


async def _examined(desk: Desk, model: Model) -> Examined | str:
    """The result, or why there is none."""
    calls = desk.budget.limits.calls - desk.budget.spent("calls")
    if calls < FEW_CALLS and await known_result(model, desk.settings.home) is None:
        desk.budget.refused = desk.budget.refused or "calls"
        return f"{calls:.0f} calls are too few for it."
    try:
        seconds = desk.budget.phase("search", "read")
        return await examined(model, desk.settings.home, seconds=seconds)
    except (ModelError, BudgetSpent) as error:
        return str(error)

"""Whether the run's model may judge: it is examined while pages are read, once per home. One that
fails plans and searches, while code judges and writes. One that only guessed is not used in later
runs.
"""

from __future__ import annotations

import asyncio
from typing import get_args

from spadework.agents.llm.client import Model
from spadework.agents.llm.errors import Busy, Passing
from spadework.agents.llm.examination import Examined, examine_model, result_at
from spadework.errors import BudgetSpent, ModelError
from spadework.events import Notice
from spadework.graph.context import SessionContext
from spadework.graph.effort.workload import Stopped, unless_stopped
from spadework.graph.emit import Emit
from spadework.settings import Role
from spadework.values import Problem

#: With fewer calls left there is no examination.
FEW_CALLS = 4
_KIND, _COST = "examination", "cost of the examination"
_NO_TIME = "There was no time for it."


def begin(context: SessionContext) -> None:
    """Start the examination in the background. A replay runs it when needed, since its clock is
    that of the last answer.
    """
    if context.model and context.journal.recording is None:
        _begin(context)


async def leave_out(context: SessionContext, emit: Emit | None = None) -> list[Problem]:
    """Continue without a model that only guessed in an earlier examination, if it has all roles;
    return the problems to report. Its plans are no better than code's (benchmarks/small_model.py).
    """
    model = context.model
    if model is None or len({model.place(role) for role in get_args(Role)}) > 1:
        return []
    known = await _earlier_result(context, model)
    if known is None or not known.guessed:
        return []
    context.model, context.unfit = None, False
    reason = (
        f"{known.right} of {known.asked} verdicts on sentences whose truth is known were right when"
        " it was examined: no more than by guessing."
    )
    effect = "It was left out: code planned, searched, judged and composed the report."
    name = model.name("verifier")
    if emit:
        emit(Notice(text=f"{name}: {reason} {effect}"))
    return [Problem(stage="examination", subject=name, reason=reason, effect=effect)]


async def examines(context: SessionContext) -> bool:
    """Return whether the run's model was not examined before in this home; a result during the run
    does not change this.
    """
    if context.examines is None:
        context.examines = bool(
            context.model and await _earlier_result(context, context.model) is None
        )
    return context.examines


async def recall(context: SessionContext) -> None:
    """Restore in a resumed run whether the model has passed, since the last steps cannot ask, and
    the cost. Nothing is asked here.
    """
    if await leave_out(context):
        return
    context.budget.early |= await context.journal.noted(_COST, "", before=True) or {}
    found = await context.journal.find(_KIND, "", Examined)
    context.judging = context.model if found and found.passed else None
    context.unfit = found is not None and not found.passed


async def judge(context: SessionContext, at: str) -> tuple[Model | None, list[Problem]]:
    """Return the model that may judge and write from this step on; or None, and why."""
    if context.model is None:
        return None, []
    result = await _result(context, at)
    passed = isinstance(result, Examined) and result.passed
    context.judging = context.model if passed else None
    context.unfit = isinstance(result, Examined) and not passed
    if passed:
        return context.model, []
    reason = (
        f"{result.right} of {result.asked} verdicts on sentences whose truth is known were right,"
        f" {result.let_through} false ones were called supported."
        if isinstance(result, Examined)
        else f"It could not be examined: {result}"
    )
    effect = "It planned and searched; code judged what was read and composed the report."
    name = context.model.name("verifier")
    return None, [Problem(stage="examination", subject=name, reason=reason, effect=effect)]


async def judge_in_time(context: SessionContext, at: str) -> tuple[Model | None, list[Problem]]:
    """Return the same, but None if there is only time for closing by code."""
    return (None, []) if context.budget.until_closing() <= 0 else await judge(context, at)


async def _result(context: SessionContext, at: str) -> Examined | str:
    """Return the result, or why there is none; in a replay, as recorded."""
    if why := await context.journal.noted("unexamined", at):
        return str(why)
    examination = _begin(context)
    if context.journal.recording is not None:
        return await asyncio.shield(examination)
    try:
        # The examination continues when a caller stops waiting.
        result = await unless_stopped(
            context.stop, asyncio.shield(examination), seconds=context.budget.until_closing()
        )
    except (Stopped, TimeoutError):
        result = _NO_TIME
    if isinstance(result, str):
        await context.journal.note("unexamined", at, result)
    return result


def _begin(context: SessionContext) -> asyncio.Task[Examined | str]:
    assert context.model is not None
    if context.examination is None:
        context.examination = asyncio.create_task(_examine_once(context, context.model))
    return context.examination


async def _examine_once(context: SessionContext, model: Model) -> Examined | str:
    """Return the result, or why there is none."""
    home = context.settings.common
    try:
        known = await _earlier_result(context, model)
        calls = context.budget.limits.calls - context.budget.spent("calls")
        if known is None and calls < FEW_CALLS:
            context.budget.refused = context.budget.refused or "calls"
            return f"{calls:.0f} calls are too few for it."

        async def result() -> Examined:
            return known or await examine_model(
                model, home, seconds=context.budget.phase("search", "read")
            )

        found: Examined | str = await context.journal.once(_KIND, "", Examined, result)
    except (ModelError, BudgetSpent) as error:
        found = str(error)
        if isinstance(error, Passing | Busy):
            context.examination = None  # the server may be fine at a later step
    if context.budget.early:
        await context.journal.note(_COST, "", context.budget.early)
    return found


async def _earlier_result(context: SessionContext, model: Model) -> Examined | None:
    """Return the result from before this run."""

    async def before() -> Examined | None:
        return await result_at(model.place("verifier"), context.settings.common)

    known = await context.journal.moment("examined", "", Examined | None, before, None)
    context.unfit = known is not None and not known.passed
    return known

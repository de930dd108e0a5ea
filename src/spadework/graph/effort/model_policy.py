"""Limit a model's use if it is slow, calls are scarce or the effort is quick."""

from __future__ import annotations

import asyncio
import math
from typing import get_args

from spadework.agents.llm.client import Model
from spadework.agents.llm.examination import Examined, examine_model, result_at
from spadework.errors import BudgetSpent, ModelError
from spadework.events import Notice
from spadework.graph.context import Emit, SessionContext
from spadework.graph.effort.workload import Stopped, unless_stopped
from spadework.settings import Role
from spadework.values import Problem

#: A model slower than this many tokens per second only plans, assesses and writes.
LEAST_SPEED = 200.0
#: Tokens used by a model call that screens hits.
LOOK_TOKENS = 800
#: Tokens needed to assess short pages (measured: 1,300 to 2,400).
ANSWER_TOKENS = 2_000
#: Minimum tokens for writing a section.
SECTION_TOKENS = 800
#: The assumed fraction of a model call's tokens that are output.
SAID = 0.1
EXAMINATION_TOKENS = 4_000


def leaves_enough(context: SessionContext, looks: int, tasks: int, topics: int) -> bool:
    """Return whether enough for an answer is left after `looks` calls to screen hits."""
    budget = context.budget
    if budget.limits.calls - budget.spent("calls") - looks < tasks + topics + 3:
        return False
    return payable(context) >= looks * LOOK_TOKENS + tasks * ANSWER_TOKENS


def payable(context: SessionContext, *, closing: bool = False) -> float:
    """Return how many more tokens the run may use and can pay for at the assessor's price. Running
    calls are ignored, except a model test, whose tokens are deducted.
    """
    free = context.budget.free(closing=closing, settled=True)
    examining = context.examination is not None and not context.examination.done()
    name = context.model.place("assessor").name if context.model else ""
    told, said = context.settings.prices.get(name.rpartition(":")[2], (0.0, 0.0))
    price = ((1 - SAID) * told + SAID * said) / 1_000_000
    paid = min(free.tokens, free.money / price if price else math.inf)
    return paid - EXAMINATION_TOKENS * examining


async def is_fast(context: SessionContext, *roles: Role) -> bool:
    """Return whether there is a model fast enough for optional calls, and effort is not quick."""
    if context.model is None or context.quick:
        return False
    speeds = [await context.model.speed(role) for role in roles]
    return all(speed is None or speed >= LEAST_SPEED for speed in speeds)


FEW_CALLS = 4
_KIND, _COST = "examination", "cost of the examination"
_NO_TIME = "There was not enough time."


def begin(context: SessionContext) -> None:
    """Start the model's test in the background, but not in a replay, whose clock it would shift."""
    if context.model and context.journal.recording is None:
        _begin(context)


async def leave_out(context: SessionContext, emit: Emit | None = None) -> list[Problem]:
    """Drop a model that only guessed in an earlier test, and return the problems. Such a model
    plans no better than fixed rules (benchmarks/small_model.py).
    """
    model = context.model
    if model is None or len({model.place(role) for role in get_args(Role)}) > 1:
        return []
    known = await _earlier_result(context, model)
    if known is None or not known.guessed:
        return []
    context.model, context.unfit = None, False
    reason = (
        f"In its qualification test, the model judged {known.right} of {known.asked} sentences"
        " correctly. Guessing would do as well."
    )
    effect = (
        "The model was not used. Fixed rules planned the research, chose the quotes and composed"
        " the report."
    )
    name = model.name("verifier")
    if emit:
        emit(Notice(text=f"{name}: {reason} {effect}"))
    return [Problem(stage="qualification", subject=name, reason=reason, effect=effect)]


async def examines(context: SessionContext) -> bool:
    """Return whether the model was untested when the run began."""
    if context.examines is None:
        context.examines = bool(
            context.model and await _earlier_result(context, context.model) is None
        )
    return context.examines


async def recall(context: SessionContext) -> None:
    """Restore the model test's result and cost in a resumed run."""
    if await leave_out(context):
        return
    context.budget.early |= await context.journal.noted(_COST, "", before=True) or {}
    found = await context.journal.find(_KIND, "", Examined)
    context.judging = context.model if found and found.passed else None
    context.unfit = found is not None and not found.passed


async def judge(context: SessionContext, at: str) -> tuple[Model | None, list[Problem]]:
    """Return the model if it passed its test and may judge (else None), and the problems."""
    if context.model is None:
        return None, []
    result = await _result(context, at)
    passed = isinstance(result, Examined) and result.passed
    context.judging = context.model if passed else None
    context.unfit = isinstance(result, Examined) and not passed
    if passed:
        return context.model, []
    reason = (
        f"The model judged {result.right} of {result.asked} test sentences correctly and accepted"
        f" {result.let_through} of the false ones as supported."
        if isinstance(result, Examined)
        else f"The model could not be tested: {result}"
    )
    effect = "The model was used only to plan and search. The report was composed from quotes."
    name = context.model.name("verifier")
    return None, [Problem(stage="qualification", subject=name, reason=reason, effect=effect)]


async def judge_in_time(context: SessionContext, at: str) -> tuple[Model | None, list[Problem]]:
    """Return the result of `judge`, or (None, []) if no time is left for a model to judge."""
    return (None, []) if context.budget.until_closing() <= 0 else await judge(context, at)


async def _result(context: SessionContext, at: str) -> Examined | str:
    if why := await context.journal.noted("unexamined", at):
        return str(why)
    examination = _begin(context)
    if context.journal.recording is not None:
        return await asyncio.shield(examination)
    try:
        # The test continues if its caller stops waiting.
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
    home = context.settings.common
    try:
        known = await _earlier_result(context, model)
        calls = context.budget.limits.calls - context.budget.spent("calls")
        if known is None and calls < FEW_CALLS:
            context.budget.refused = context.budget.refused or "calls"
            return f"Too few model calls are left ({calls:.0f})."

        async def result() -> Examined:
            return known or await examine_model(
                model, home, seconds=context.budget.phase("search", "read")
            )

        found: Examined | str = await context.journal.once(_KIND, "", Examined, result)
    except (ModelError, BudgetSpent) as error:
        found = str(error) if isinstance(error, ModelError) else f"{error}."
        if isinstance(error, ModelError):
            context.examination = None  # Test again later, because the server may recover.
    if context.budget.early:
        await context.journal.note(_COST, "", context.budget.early)
    return found


async def _earlier_result(context: SessionContext, model: Model) -> Examined | None:

    async def before() -> Examined | None:
        return await result_at(model.place("verifier"), context.settings.common)

    known = await context.journal.moment("examined", "", Examined | None, before, None)
    context.unfit = known is not None and not known.passed
    return known

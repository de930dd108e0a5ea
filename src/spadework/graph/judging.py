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
_KIND, _COST = "examination", "cost of the examination"
_NO_TIME = "There was no time for it."


def begin(desk: Desk) -> None:
    """Let the model be examined meanwhile. In a replay, whose clock is that of the last answer, it
    is examined where the result is needed.
    """
    if desk.model and desk.journal.recording is None:
        _begin(desk)


async def examines(desk: Desk) -> bool:
    """Whether the run has a model that was not examined before in this home."""
    return desk.model is not None and await _known(desk, desk.model) is None


async def recall(desk: Desk) -> None:
    """Know in a run that is taken up whether its model has passed: from its last steps on nobody
    may ask any more; and what was paid for that. Nothing is asked here.
    """
    desk.budget.early |= await desk.journal.noted(_COST, "", before=True) or {}
    found = await desk.journal.known(_KIND, "", Examined)
    desk.judging = desk.model if found and found.passed else None
    desk.unfit = found is not None and not found.passed


async def judge(desk: Desk, at: str) -> tuple[Model | None, list[Problem]]:
    """The model that may judge and write from this step of the run on; None where there is none,
    and why.
    """
    if desk.model is None:
        return None, []
    result = await _result(desk, at)
    passed = isinstance(result, Examined) and result.passed
    desk.judging = desk.model if passed else None
    desk.unfit = isinstance(result, Examined) and not passed
    if passed:
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


async def _result(desk: Desk, at: str) -> Examined | str:
    """The result, or why there is none; in a replay there was no time for it where there was
    none.
    """
    if await desk.journal.noted("unexamined", at):
        return _NO_TIME
    examination = _begin(desk)
    if desk.journal.recording is not None:
        return await _ended(examination)
    try:
        return await unless_stopped(
            desk.stop, _ended(examination), seconds=desk.budget.until_closing()
        )
    except (Stopped, TimeoutError):
        await desk.journal.note("unexamined", at, True)
        return _NO_TIME


def _begin(desk: Desk) -> asyncio.Task[Examined | str]:
    assert desk.model is not None
    if desk.examination is None:
        desk.examination = asyncio.create_task(_examined(desk, desk.model))
    return desk.examination


async def _ended(taken: asyncio.Task[Examined | str]) -> Examined | str:
    """The result, in time; who stops waiting does not end the examination."""
    return await asyncio.shield(taken)


async def _examined(desk: Desk, model: Model) -> Examined | str:
    """The result, or why there is none."""
    home = desk.settings.home
    try:
        known = await _known(desk, model)
        calls = desk.budget.limits.calls - desk.budget.spent("calls")
        if known is None and calls < FEW_CALLS:
            desk.budget.refused = desk.budget.refused or "calls"
            return f"{calls:.0f} calls are too few for it."

        async def result() -> Examined:
            return known or await examined(model, home, seconds=desk.budget.phase("search", "read"))

        found: Examined | str = await desk.journal.once(_KIND, "", Examined, result)
    except (ModelError, BudgetSpent) as error:
        found = str(error)
    if desk.budget.early:
        await desk.journal.note(_COST, "", desk.budget.early)
    return found


async def _known(desk: Desk, model: Model) -> Examined | None:
    """The result from before this run."""

    async def before() -> Examined | None:
        return await known_result(model, desk.settings.home)

    known = await desk.journal.moment("examined", "", Examined | None, before, None)
    desk.unfit = known is not None and not known.passed
    return known

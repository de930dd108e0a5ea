"""A role is played by its model, or by code; when the model fails, that is recorded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from spadework.agents.model import Model
from spadework.errors import BudgetSpent, ModelError
from spadework.settings import Role
from spadework.values import Problem

T = TypeVar("T")


async def first_of(
    model: Model | None,
    role: Role,
    subject: str,
    ask: Callable[[Model], Awaitable[T]],
    extract: Callable[[], T],
    effect: str = "The extractive role did this work.",
) -> tuple[T, list[Problem]]:
    """What the model answers, or `extract` gives; where it failed with a problem of this effect."""
    if model is None:
        return await asyncio.to_thread(extract), []
    try:
        answer = await ask(model)
        return answer, model.news(role)
    except (ModelError, BudgetSpent) as error:
        problem = Problem(stage=role, subject=subject, reason=str(error), effect=effect)
        return await asyncio.to_thread(extract), [*model.news(role), problem]

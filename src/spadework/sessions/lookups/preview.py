"""Plan a session without running it. Only planning is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from spadework.events import Event, Notice
from spadework.graph.nodes.plan import foreseen, make_plan, today
from spadework.graph.routes import question_of
from spadework.graph.state import ResearchState
from spadework.sessions.lookups.documents import temporary_context
from spadework.sessions.metrics.run_history import experience
from spadework.sessions.session import Session
from spadework.values import Forecast, Plan, Problem, Usage, Value


class Preview(Value):
    """A plan and its forecast, with the usage and problems of planning."""

    plan: Plan
    forecast: Forecast
    usage: Usage
    problems: tuple[Problem, ...] = ()


async def preview(session: Session, tell: Callable[[str], None] = lambda text: None) -> Preview:
    """Return the plan that a session would make. A model's plan is stored and reused by a run of
    the same question. `tell` receives notices. Raises SettingsError.
    """

    def emit(event: Event) -> None:
        if isinstance(event, Notice):
            tell(event.text)

    async with temporary_context(session.settings, session.budget, tell) as context:
        for notice in context.notices:
            tell(notice)
        await context.index_library()
        asked = cast("ResearchState", {**session.brief.state(), "asked_on": today()})
        context.experience = await experience(session.settings.home)
        made, problems, seconds = await make_plan(context, question_of(asked), emit)
        return Preview(
            plan=made,
            forecast=await foreseen(context, made, seconds, follows=bool(session.brief.follows)),
            usage=context.budget.used,
            problems=(*context.problems, *problems),
        )

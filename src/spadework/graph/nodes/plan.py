"""Planning: the stored plan of the same question, or a new one by the lead, perhaps after a first
search.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
from contextlib import suppress
from typing import Any

from spadework import clock
from spadework.agents import lead
from spadework.agents.extractive.lead import in_context
from spadework.events import Notice
from spadework.graph.context import SessionContext
from spadework.graph.effort.experience import by_experience
from spadework.graph.effort.forecast import ceilings, forecast, later
from spadework.graph.effort.model_examination import examines
from spadework.graph.emit import Emit
from spadework.graph.nodes.search import first_look
from spadework.graph.routes import first_tasks
from spadework.tools.stores.plan_store import PlanStore, normalise_question
from spadework.values import Forecast, Plan, Problem, Question

#: Minimum seconds for planning even in a short run, since everything depends on it.
LEAST_SECONDS = 6.0
#: Seconds until most runs have a plan, without the model's; the first run over a library must also
#: index it.
START_SECONDS = 5.0
_AGAIN = (
    "The plan is that of the same question asked before. SPADEWORK_PLAN_DAYS=0 makes a new one."
)


async def make_plan(
    context: SessionContext, question: Question, emit: Emit
) -> tuple[Plan, list[Problem], float]:
    """Return a question's plan, problems, and the model's seconds: 0 if none was asked. A model's
    plan is stored; the extractive lead's depends on what is found now.
    """
    store = PlanStore(context.settings.home / "plans", context.settings.plan_days)
    key = _key(context, question)
    # A plan about recent matters is valid only on its date.
    dated = key | {"asked_on": question.asked_on}

    async def look() -> Plan | None:
        if context.model is None:
            return None
        return await asyncio.to_thread(store.get, dated) or await asyncio.to_thread(store.get, key)

    if known := await context.journal.moment("plan", dated, Plan | None, look, None):
        context.budget.add(cache_hits=1)
        emit(Notice(text=_AGAIN))
        return known.model_copy(update={"question": question.text}), [], 0.0
    # A model that plans quickly, or sees earlier answers, is not shown hits.
    told = context.model and (context.quick or any(question.answers))
    hits = [] if told else await first_look(context, in_context(question), emit)
    began = context.budget.elapsed()
    made, problems = await lead.plan(
        context.model,
        question,
        hits,
        searching=context.searching,
        quick=context.quick,
        seconds=context.budget.step("plan", "search", least=LEAST_SECONDS),
    )
    for problem in problems:
        emit(Notice(text=f"{problem.reason} {problem.effect}".rstrip()))
    seconds = 0.0
    if context.model and not any("extractive" in problem.effect for problem in problems):
        seconds = context.budget.elapsed() - began
        # A plan that cannot be stored is only made again.
        with suppress(OSError):
            await asyncio.to_thread(store.put, key if made.freshness == "any" else dated, made)
    return made, problems, seconds


def today() -> str:
    """Return the run's date, which stays fixed."""
    return clock.today().date().isoformat()


async def foreseen(
    context: SessionContext, plan: Plan, plan_seconds: float, *, follows: bool = False
) -> Forecast:
    """Return the estimate for a plan's run, from earlier runs of its kind, else from constants.
    `follows`: it follows up a session.
    """
    first = await examines(context)
    tasks = first_tasks(plan, context.budget, context.workload(plan))
    made = forecast(
        plan,
        tasks,
        context.settings,
        providers=[provider.name for provider in context.search.providers],
        model=context.model is not None,
        plan_seconds=plan_seconds,
    )
    gone = context.budget.elapsed() - plan_seconds
    made = later(made, round(gone, 1) if gone > START_SECONDS else 0.0, context.settings)
    kind = _kind(context, follows=follows, examines=first)
    named = {"kind": kind, "machine": _machine(context)}
    return by_experience(
        made.model_copy(update=named), context.experience, ceilings(context.settings)
    )


def _key(context: SessionContext, question: Question) -> Any:
    """Return what a model's plan depends on: question, attachments, model, effort, prompt."""
    settings = context.settings
    return {
        "question": normalise_question(question.text),
        "earlier": [normalise_question(text) for text in question.earlier],
        "answers": question.answers,
        "domains": question.domains,
        "wishes": question.wishes,
        "keeps": question.keeps,
        "language": question.language,
        "model": [settings.model_for("lead"), settings.openai_base_url],
        "searching": context.searching,
        "effort": settings.effort,
        "prompt": lead.prompt_of(Question(text=""), [], [], quick=context.quick).system,
    }


def _kind(context: SessionContext, *, follows: bool, examines: bool) -> str:
    settings, model = context.settings, context.model
    models = dict.fromkeys((model.name("lead"), model.name("writer"))) if model else ["no model"]
    searched = sorted({provider.name for provider in context.search.providers})
    parts = [
        f"{settings.effort} effort",
        " and ".join(models),
        " and ".join(searched) or "nothing searched",
        f"{settings.iterations} rounds at most",
        f"{settings.preset} selection",
        *(["follow-up"] if follows else []),
        *(["its model examined first"] if examines else []),
    ]
    return ", ".join(parts)


def _machine(context: SessionContext) -> str:
    """Return a digest of the machine and the model's server."""
    told = (
        platform.node(),
        os.cpu_count(),
        context.settings.openai_base_url if context.model else "",
    )
    return hashlib.blake2b(repr(told).encode(), digest_size=4).hexdigest()

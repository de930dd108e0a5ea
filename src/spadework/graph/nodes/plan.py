"""Plan the research for a question, clarify the question, and get the plan approved."""

from __future__ import annotations

import asyncio
import hashlib
import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from spadework import deadline
from spadework.agents import lead
from spadework.agents.extractive import lead as extractive
from spadework.agents.extractive.lead import in_context
from spadework.agents.lead import clarify_question, doubt
from spadework.agents.plan_edits import WISH, apply_wish, complete_plan, edit_plan, said_in
from spadework.events import APPROVE, Asked, Notice, Planned
from spadework.graph import routes
from spadework.graph.context import Emit, SessionContext, context_of, emitter
from spadework.graph.effort.forecast import by_experience, ceilings, forecast, later
from spadework.graph.effort.model_policy import examines
from spadework.graph.effort.workload import MOST_TOPICS
from spadework.graph.nodes.search import first_look
from spadework.graph.routes import first_tasks
from spadework.graph.state import ResearchState
from spadework.settings import Settings
from spadework.tools.stores.plan_store import PlanStore, normalise_question
from spadework.values import CODE, Forecast, Hit, Plan, Problem, Question

#: Minimum seconds for planning, on which all other steps depend.
LEAST_SECONDS = 6.0
#: Most runs have a plan within this many seconds, not counting the time that the model takes. If a
#: run needs longer, for example because of indexing, all of that time is added to the forecast.
START_SECONDS = 5.0
_AGAIN = (
    "The plan is reused from an earlier session with the same question. To make a new plan, delete"
    " that session."
)


async def make_plan(
    context: SessionContext, question: Question, emit: Emit
) -> tuple[Plan, list[Problem], float]:
    """Return a new or stored plan, the problems, and the model's seconds (0 without a model)."""
    store = PlanStore(context.settings.home / "plans")
    key = _key(context, question)
    # A plan for a question about recent events is reused only on the same day.
    dated = key | {"asked_on": question.asked_on}

    async def look() -> Plan | None:
        if context.model is None:
            return None
        return await asyncio.to_thread(store.get, dated) or await asyncio.to_thread(store.get, key)

    if known := await context.journal.moment("plan", dated, Plan | None, look, None):
        context.budget.add(cache_hits=1)
        emit(Notice(text=_AGAIN))
        return known.model_copy(update={"question": question.text}), [], 0.0
    told = context.model and (context.quick or any(question.answers))
    hits = [] if told else await first_look(context, extractive.in_context(question), emit)
    made, problems, seconds = await _ask_lead(context, question, hits)
    for problem in problems:
        emit(Notice(text=f"{problem.reason} {problem.effect}".rstrip()))
    if made.maker != CODE:
        # A plan that could not be stored can be made again.
        with suppress(OSError):
            await asyncio.to_thread(store.put, key if made.freshness == "any" else dated, made)
    return made, problems, seconds


async def plan_again(
    context: SessionContext, question: Question, hits: Sequence[Hit], plan: Plan
) -> tuple[Plan | None, list[Problem], float]:
    """Plan again from the pages of the first round. Return the plan (None to keep the old one), the
    problems, and the model's seconds.
    """
    if context.model is None or context.settings.approve:
        return None, [], 0.0
    if context.judging is None:
        # A model that is not allowed to judge does not plan well either, so fixed rules make the
        # plan instead.
        return await asyncio.to_thread(extractive.plan, question, hits), [], 0.0
    if plan.maker != CODE:
        return None, [], 0.0
    made, problems, seconds = await _ask_lead(context, question, hits)
    return (None if made.maker == CODE else made), problems, seconds


async def _ask_lead(
    context: SessionContext, question: Question, hits: Sequence[Hit]
) -> tuple[Plan, list[Problem], float]:
    began = context.budget.elapsed()
    made, problems = await lead.plan(
        context.model,
        question,
        hits,
        searching=context.searching,
        most=MOST_TOPICS[context.settings.effort],
        seconds=context.budget.step("plan", "search", least=LEAST_SECONDS),
    )
    seconds = 0.0 if made.maker == CODE else context.budget.elapsed() - began
    return made, problems, seconds


def today() -> str:
    """Return the run's start date."""
    return deadline.today().date().isoformat()


async def foreseen(
    context: SessionContext, plan: Plan, plan_seconds: float, *, follows: bool = False
) -> Forecast:
    """Return a plan's forecast, corrected by similar earlier runs if there are enough.
    `plan_seconds` is how long a model took to plan, or 0. `follows` marks a follow-up.
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


async def foreseen_unplanned(context: SessionContext, asked: str) -> Forecast:
    """Return the forecast for a question not planned yet, based on a plan made without a model."""
    plan = await asyncio.to_thread(extractive.plan, Question(text=asked), [])
    return await foreseen(context, plan, 0.0)


def _key(context: SessionContext, question: Question) -> Any:
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
        "prompt": lead.prompt_of(
            Question(text=""), [], [], most=MOST_TOPICS[settings.effort]
        ).system,
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
        *(["its model tested first"] if examines else []),
    ]
    return ", ".join(parts)


def _machine(context: SessionContext) -> str:
    told = (
        platform.node(),
        os.cpu_count(),
        context.settings.openai_base_url if context.model else "",
    )
    return hashlib.blake2b(repr(told).encode(), digest_size=4).hexdigest()


#: Maximum number of times that a user may request changes to a plan.
MOST_WISHES = 20


async def clarify(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Ask what an ambiguous question means, if the settings allow it."""
    context = await context_of(state["session_id"], runtime.context)
    if not context.settings.clarify:
        return {}
    question = routes.question_of(state)
    emit = emitter(context, runtime)
    hits = [] if context.model else await first_look(context, in_context(question), emit)
    asked, problems = await doubt(
        context.model, question, hits, seconds=context.budget.phase("plan")
    )
    answer = ask_user(context, asked) if asked else ""
    # Without a model, the question itself is the search query, so the clarifying question must not
    # be added to it.
    said = asked.text if asked and context.model else ""
    return {"question": clarify_question(question.text, answer, said), "problems": problems}


async def approve(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Let the user approve or change the plan if required, and create the first tasks."""
    context = await context_of(state["session_id"], runtime.context)
    made, seconds = state["plan"], state.get("plan_seconds", 0.0)
    problems: list[Problem] = []
    follows = bool(state.get("follows"))
    if context.settings.approve:
        made, problems = await _approve_plan(context, made, seconds, follows=follows)
    if made != state["plan"]:
        foretold = await foreseen(context, made, seconds, follows=follows)
        emitter(context, runtime)(Planned(plan=made, forecast=foretold))
    tasks = first_tasks(made, context.budget, context.workload(made))
    if state.get("follows") and state.get("attached"):
        tasks = routes.known_tasks(made)
    return {"plan": made, "problems": problems, "tasks": tasks}


async def _approve_plan(
    context: SessionContext, plan: Plan, seconds: float, *, follows: bool
) -> tuple[Plan, list[Problem]]:
    now, text, problems = plan, APPROVE, list[Problem]()
    for _ in range(MOST_WISHES):
        foretold = await foreseen(context, now, seconds, follows=follows)
        answer = ask_user(context, Asked(kind="approve", text=text, plan=now, forecast=foretold))
        said = said_in(answer)
        now, heard = edit_plan(now, said.topics), list[str]()
        for wish in said.wishes:
            left = context.budget.phase("plan", "search")
            (now, why, _), more = await apply_wish(context.model, now, wish, seconds=left)
            heard.append(why or f"Changed: {wish}.")
            problems += more
        if said.done:
            break
        text = " ".join(heard)
    now, more = await complete_plan(
        context.model, now, plan, seconds=context.budget.phase("plan", "search")
    )
    return now, [*problems, *more]


def ask_user(context: SessionContext, asked: Asked) -> str:
    """Ask the user, and return the answer or "" for none. An answer reruns the interrupted node."""
    context.budget.pause()
    answer = interrupt(asked.model_dump(mode="json") | _form_of(asked))
    context.budget.go_on()
    return _in_words(answer, asked)


def _form_of(asked: Asked) -> dict[str, Any]:
    """Return a question as a `HumanInterrupt` (Agent Inbox, the chat page) and a `HITLRequest`."""
    plan, text, args = asked.plan, asked.text, {"options": "\n".join(asked.options)}
    if plan:
        args = {"topics": "\n".join(topic.name for topic in plan.topics)}
    elif asked.options:
        text = "\n- ".join([f"{text}\n", *asked.options])
    allowed = dict.fromkeys(("allow_accept", "allow_edit"), plan is not None)
    decisions = ["approve", "edit", "reject"] if plan else ["respond", "reject"]
    return {
        "action_request": {"action": asked.kind, "args": args},
        "config": {**allowed, "allow_respond": True, "allow_ignore": plan is None},
        "description": text,
        "action_requests": [{"name": asked.kind, "args": args, "description": text}],
        "review_configs": [{"action_name": asked.kind, "allowed_decisions": decisions}],
    }


def _in_words(answer: Any, asked: Asked) -> str:
    """Return an answer (text, true, list, object or decision) as text."""
    made = answer.get("decisions", answer) if isinstance(answer, dict) else answer
    if isinstance(made, list) and made and isinstance(made[0], dict) and "type" in made[0]:
        kind, said = made[0]["type"], made[0].get("edited_action", made[0].get("args"))
        if kind in ("response", "respond", "reject"):
            words = " ".join(str(said or made[0].get("message") or "").split())
            return f"{WISH}{words}" if asked.plan else words
        answer = said.get("args") if kind == "edit" and isinstance(said, dict) else ""
    if isinstance(answer, dict):
        answer = answer.get("topics") or answer.get("answer") or ""
    if isinstance(answer, list):
        return "\n".join(
            str(line.get("name", "") if isinstance(line, dict) else line) for line in answer
        )
    return answer.strip() if isinstance(answer, str) else ""

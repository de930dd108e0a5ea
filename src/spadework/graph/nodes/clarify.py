"""Questions to the user about question and plan; run and clock pause meanwhile."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime
from langgraph.types import interrupt

from spadework.agents.clarification import clarify_question, doubt
from spadework.agents.extractive.lead import in_context
from spadework.agents.plan_edits import apply_wish, complete_plan, edit_plan, said_in
from spadework.events import APPROVE, Asked, Planned
from spadework.graph import routes
from spadework.graph.context import SessionContext, context_of
from spadework.graph.emit import emitter
from spadework.graph.nodes.plan import foreseen
from spadework.graph.nodes.search import first_look
from spadework.graph.state import ResearchState
from spadework.settings import Settings
from spadework.values import Plan, Problem

#: Maximum changes of a plan in words.
MOST_WISHES = 20


async def clarify(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Ask the user if the question is ambiguous and the settings allow it."""
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
    # Without a model the question is searched unchanged, without our own words.
    said = asked.text if asked and context.model else ""
    return {"question": clarify_question(question.text, answer, said), "problems": problems}


async def approve(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Let the user approve or change the plan, if the settings say so, and create the first
    tasks.
    """
    context = await context_of(state["session_id"], runtime.context)
    made, seconds = state["plan"], state.get("plan_seconds", 0.0)
    problems: list[Problem] = []
    foretold, follows = state.get("forecast"), bool(state.get("follows"))
    if context.settings.approve:
        made, problems = await _approve_plan(context, made, seconds, follows=follows)
    if made != state["plan"]:
        foretold = await foreseen(context, made, seconds, follows=follows)
        emitter(context, runtime)(Planned(plan=made, forecast=foretold))
    known = bool(state.get("follows") and state.get("attached"))
    return {
        "plan": made,
        "forecast": foretold,
        "problems": problems,
        "tasks": (
            routes.known_tasks(made)
            if known
            else routes.first_tasks(made, context.budget, context.workload(made))
        ),
    }


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
    """Return the user's answer, "" for "go on". The asking node runs again once it is there."""
    context.budget.pause()
    answer = interrupt(asked.model_dump(mode="json"))
    context.budget.go_on()
    return in_words(answer)


def in_words(answer: Any) -> str:
    """Return an answer as text: clients may also send true, a list of topics, or an object with
    one.
    """
    if isinstance(answer, dict):
        answer = answer.get("topics") or answer.get("answer") or ""
    if isinstance(answer, list):
        return "\n".join(
            str(line.get("name", "") if isinstance(line, dict) else line) for line in answer
        )
    return answer.strip() if isinstance(answer, str) else ""

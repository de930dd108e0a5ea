"""Revise a report as a follow-up message asks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.runtime import Runtime

from spadework.agents.extractive.lead import in_context
from spadework.agents.llm.client import Model, first_of
from spadework.agents.report.length import longer, shorter
from spadework.agents.reviser import (
    Reported,
    Told,
    Turn,
    TurnKind,
    requested_addition,
    revise,
    sure_turn,
    turn_of,
)
from spadework.events import Notice
from spadework.graph.context import Emit, SessionContext, context_of, emitter
from spadework.graph.effort.model_policy import judge_in_time
from spadework.graph.followup.earlier_report import (
    answer_from_evidence,
    as_it_was,
    earlier,
    found_for_it,
    join_states,
    quote_sections,
    take_over,
)
from spadework.graph.nodes.distil import WINDOW_TOKENS
from spadework.graph.nodes.recall import earlier_pages
from spadework.graph.nodes.write import find_disputes
from spadework.graph.state import Earlier, ResearchState, proofs
from spadework.settings import Settings
from spadework.values import Plan, Problem, Question, Section, models_among

#: The value of `stopped_by` if only the report's form was changed.
REVISED = "revised"
STAYED = "The report is unchanged."
#: The reason and the effect of the problem that is reported if there is no report to revise.
NO_REPORT = "There is no report to revise."
INSTEAD = "Researching the previous question to write a report in the requested form."
_NOTICES: dict[TurnKind, str] = {
    "form": "Revising the previous report without searching.",
    "more": "Keeping the previous report and searching only for what is missing.",
    "known": "Answering from the evidence of the previous session, without searching.",
}
_BY_MODEL = "Without a language model, only the length of a report can be changed."
_NOTHING = {
    "shorter": "Nothing in the report can be left out.",
    "longer": "No more text around the quotes can be added.",
}


async def receive(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Find the report that this question follows up on, and decide what the user wants from it."""
    context = await context_of(state["session_id"], runtime.context)
    before = await earlier(context, state.get("follows", ""))
    emit = emitter(context, runtime)
    if before is None:
        return {"turn": Turn(kind="new"), "before": None, **_instead(state, emit)}
    asked = state["question"]
    exchanges = _exchanges(state, before)
    pages = {page.content_hash: page for page in before.pages}
    question = Question(text=asked, earlier=tuple(exchanges["earlier"]))
    report = Reported(before.plan.question, before.sections, before.evidence, pages)
    turn, problems = await turn_of(
        context.model, question, report, seconds=context.budget.phase("plan")
    )
    told = {"turn": turn, "problems": problems, **exchanges}
    if turn.kind == "new":
        return {**told, "before": None}
    texts = await take_over(context, state.get("follows", ""), before)
    proofs = [e for e in before.evidence if e.id in turn.proofs]
    if turn.kind == "known" and not all(e.content_hash in texts for e in proofs):
        return {**told, "turn": Turn(kind="new"), "before": None}
    if turn.kind != "form":  # `revised` sends the notice about a new form.
        emit(Notice(text=_NOTICES[turn.kind]))
    if turn.kind == "known":
        meant = turn.question or (asked if context.model else in_context(question))
        return {**told, **answer_from_evidence(before, turn, meant), "before": None}
    told |= {**as_it_was(before), "before": before}
    if turn.kind == "more":
        del told["plan"]
        return told if context.model else {**told, "question": requested_addition(asked) or asked}
    await earlier_pages(
        context, state.get("follows", ""), before.plan.model_copy(update={"freshness": "any"})
    )
    return {**told, "stopped_by": REVISED}


def _instead(state: ResearchState, emit: Emit) -> dict[str, Any]:
    asked, before = state["question"], state.get("earlier", [])
    questions = [n for n, text in enumerate(before) if not sure_turn(text)]
    if not questions or sure_turn(asked) is None:
        return {}
    last = questions[-1]
    problem = Problem(stage="writer", subject="follow-up", reason=NO_REPORT, effect=INSTEAD)
    emit(Notice(text=f"{problem.reason} {problem.effect}"))
    return {
        "question": before[last],
        "earlier": before[:last],
        "answers": state.get("answers", [])[:last],
        "wishes": "\n".join(filter(None, [state.get("wishes", ""), asked])),
        "problems": [problem],
    }


def _exchanges(state: ResearchState, before: Earlier) -> dict[str, Any]:
    asked = state.get("earlier", [])[:-1]
    answers = [*state.get("answers", []), *[""] * len(asked), ""]
    kept = [(text, said) for text, said in zip(asked, answers, strict=False) if not sure_turn(text)]
    last = state.get("answers", [""])[-1:]
    return {
        "earlier": [*(text for text, _ in kept), before.plan.question],
        "answers": [*(said for _, said in kept), *last],
    }


async def revised(state: ResearchState, runtime: Runtime[Settings]) -> dict[str, Any]:
    """Return the state updates that change the report's form, using only its own evidence."""
    context = await context_of(state["session_id"], runtime.context)
    before, turn, emit = state.get("before"), state["turn"], emitter(context, runtime)
    assert before is not None
    context.budget.writing = True
    model, unfit = await judge_in_time(context, "revise")
    plan = before.plan
    if model is not None:
        plan = plan.model_copy(update={"language": turn.language or plan.language})
        emit(Notice(text=_NOTICES["form"]))
        told = _tell_state(state, before, plan)
        changes = await _by_model(context, model, told, before)
    else:
        changes = await _by_code(context, before, turn)
        why = [f"{problem.reason} {problem.effect}" for problem in changes.get("problems", ())]
        emit(Notice(text=" ".join(why) or _NOTICES["form"]))
    problems = [*unfit, *changes.pop("problems", [])]
    return {**changes, "plan": plan, "problems": problems}


async def extend_report(
    context: SessionContext, state: ResearchState, model: Model | None, before: Earlier
) -> dict[str, Any]:
    """Return the state updates that add the follow-up's findings to the report."""
    new, whole = found_for_it(before, state), join_states(before, state)
    plan = whole["plan"]
    now: ResearchState = {**state, "coverage": whole["coverage"], "plan": plan}
    texts = await context.pages.texts(e.content_hash for e in proofs(now))
    changes: dict[str, Any] = {"sections": list(before.sections)}
    if model is not None and new:
        told = _tell_state(state, before, plan, [e.id for e in new])
        changes = await _by_model(context, model, told, before)
    if new and changes["sections"] == list(before.sections):
        changes["sections"] = quote_sections(before, state["plan"], new)
    disputes, uncompared = await find_disputes(context, now, texts)
    made = {**whole, **changes, "conflicts": disputes}
    return made | {"problems": [*made.get("problems", []), *uncompared]}


def _tell_state(
    state: ResearchState, before: Earlier, plan: Plan, more: Sequence[str] = ()
) -> Told:
    return Told(
        plan,
        state.get("title", ""),
        before.sections,
        proofs(state),
        state["question"],
        more,
        state.get("asked_on", ""),
    )


async def _by_model(
    context: SessionContext, model: Model, told: Told, before: Earlier
) -> dict[str, Any]:
    seconds = context.budget.phase("write")

    async def ask(model: Model) -> dict[str, Any]:
        window = WINDOW_TOKENS[context.settings.effort]
        done = await revise(model, told, window=window, seconds=seconds)
        sections = list(done.sections)
        return {"sections": sections, "title": done.title, "places": dict(done.places)}

    stays = {"sections": list(before.sections)}
    changes, problems = await first_of(model, "writer", "revision", ask, lambda: stays, STAYED)
    return {**changes, "problems": problems}


def _as_is(before: Earlier, why: str) -> dict[str, Any]:
    problem = Problem(stage="writer", subject="revision", reason=why, effect=STAYED)
    return {"sections": list(before.sections), "problems": [problem]}


async def _by_code(context: SessionContext, before: Earlier, turn: Turn) -> dict[str, Any]:
    """Change a report's length, the only change possible without a model."""
    by_model = models_among(c.maker for c in before.citations)
    if by_model or not turn.length or turn.language:
        return _as_is(before, _BY_MODEL)
    ledger = list(before.evidence)
    asked = {topic.name: topic.question for topic in before.plan.topics}
    sections = list[Section]()
    for section in before.sections:
        if turn.length == "shorter":
            question = asked.get(section.heading, before.plan.question)
            before_it = {one.text for kept in sections for one in kept.sentences}
            sections.append(shorter(section, question, {e.id: e for e in ledger}, before_it))
            continue
        texts = await context.pages.texts(e.content_hash for e in ledger)
        told, more = longer(section, ledger, texts, len(ledger) + 1)
        sections.append(told)
        ledger += more
    if sections == list(before.sections):
        return _as_is(before, _NOTHING[turn.length])
    new, coverage = ledger[len(before.evidence) :], {}
    for found in before.coverage:
        ids = (*found.evidence_ids, *(e.id for e in new if e.topic == found.topic))
        coverage[found.topic] = found.model_copy(update={"evidence_ids": ids})
    return {
        "sections": [section for section in sections if section.sentences],
        "evidence": new,
        "coverage": coverage,
        "places": {section.heading: n for n, section in enumerate(sections)},
    }

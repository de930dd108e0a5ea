"""For deep-effort runs, have an editor review the report, then revise it once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from spadework.agents import critic
from spadework.agents.reviser import UNSEARCHED
from spadework.graph.context import SessionContext
from spadework.graph.effort.model_policy import judge_in_time
from spadework.graph.finish import result_of
from spadework.graph.routes import KNOWN
from spadework.graph.state import ResearchState
from spadework.tools.text.facts import nearest
from spadework.values import Query, Review, Section, Task, Weakness


async def review_report(context: SessionContext, state: ResearchState) -> dict[str, Any]:
    """Return the editor's review and the tasks of an extra round. After that round, return the
    review with the outcome of each of its points.
    """
    before = state.get("review")
    if before:
        return {"review": _end_review(before, state)}
    context.budget.wrote()
    if not context.deep or state["turn"].kind in UNSEARCHED or await context.was_stopped("review"):
        return {}
    model, _ = await judge_in_time(context, "review")
    if model is None:
        return {}
    seconds = context.budget.until_closing()
    found, problems = await critic.review(model, result_of(context, state), seconds=seconds)
    if found is None:
        return {"problems": problems}
    late = await context.noted("may search", "review", _too_late(context, state), "")
    sections = state.get("sections", [])
    points = [_place_weakness(point, state, sections, late) for point in found.weaknesses]
    tasks = _tasks(context, state, points)
    asked = {"", *(query.text for task in tasks for query in task.queries)}
    hurried = context.budget.replayed is None and not context.budget.may_rewrite()
    rest = "There was no time to fix this." if hurried else ""
    outcomes = [
        p.outcome or (rest if p.query in asked else "The page limit was reached.") for p in points
    ]
    points = [p.model_copy(update={"outcome": o}) for p, o in zip(points, outcomes, strict=True)]
    made = found.model_copy(
        update={
            "weaknesses": tuple(points),
            "sections": tuple(sections),
            "entries": len(state.get("evidence", [])),
            "done": all(point.outcome for point in points),
        }
    )
    return {"review": made, "tasks": [] if hurried else tasks, "problems": problems}


def _place_weakness(
    point: Weakness, state: ResearchState, sections: Sequence[Section], late: str
) -> Weakness:
    headings = {section.heading.casefold(): section.heading for section in sections}
    heading = headings.get(point.section.casefold(), "")
    topics = {topic.name.casefold(): topic.name for topic in state["plan"].topics}
    topic = topics.get(point.topic.casefold(), "")
    if point.query and not topic:
        told = [f"{topic.name} {topic.question}" for topic in state["plan"].topics]
        found = nearest(f"{point.topic} {point.query} {point.text}", told)
        topic = state["plan"].topics[found[0] if found else 0].name
    outcome = ""
    if point.query and late:
        outcome = "" if heading else f"No search was made for this point: {late}"
    elif not point.query and not heading:
        outcome = "No section has this heading, so nothing was changed."
    query = "" if late else point.query
    placed = {"section": heading, "topic": topic, "query": query, "outcome": outcome}
    return point.model_copy(update=placed)


def _too_late(context: SessionContext, state: ResearchState) -> str:
    rounds = sum(done.number > KNOWN for done in state.get("rounds", []))
    if rounds >= context.budget.limits.iterations:
        return "all allowed rounds are used up."
    if limit := context.budget.refused or context.budget.ended_by():
        return f"the budget for {limit} is used up."
    # A report already exists, so the remaining time needs to cover only another round and the
    # rewriting.
    fits = context.budget.fits(state.get("plan_seconds", 0.0))
    return "" if fits else "there was no time."


def _tasks(context: SessionContext, state: ResearchState, points: Sequence[Weakness]) -> list[Task]:
    """Return a task for each topic that the editor wants searched. The weaknesses that the editor
    found become points that the topic must cover.
    """
    wanted: dict[str, list[Weakness]] = defaultdict(list)
    for point in points:
        if point.query:
            wanted[point.topic].append(point)
    topics = {topic.name: topic for topic in state["plan"].topics}
    left = max(0, int(context.budget.limits.pages - context.budget.spent("pages")))
    going, most = [*wanted.items()][:left], context.workload(state["plan"]).gap_pages
    number = max((task.round for task in state.get("tasks", [])), default=KNOWN) + 1
    return [
        Task(
            topic=topics[name].model_copy(
                update={"must_cover": (*topics[name].must_cover, *(p.text for p in missing))}
            ),
            queries=tuple(Query(text=point.query, kind="gap") for point in missing),
            round=number,
            pages=min(most, left),
            together=left if left < len(going) * most else None,
        )
        for name, missing in going
    ]


def _end_review(review: Review, state: ResearchState) -> Review:
    if review.done:
        return review
    before = {section.heading: section for section in review.sections}
    after = {section.heading: section for section in state.get("sections", [])}
    fresh = state.get("evidence", [])[review.entries :]

    def outcome(point: Weakness) -> str:
        if point.outcome:
            return point.outcome
        found = sum(e.topic == point.topic for e in fresh)
        quotes = f"{found} new {'quote' if found == 1 else 'quotes'}"
        said = f"Searched for “{point.query}”: {quotes}. " if point.query else ""
        if point.query and not found:
            return said.strip()
        told = [heading for heading, one in after.items() if before.get(heading) != one]
        if point.section in told or (not point.section and told):
            return f"{said}{', '.join([point.section] if point.section else told)}: rewritten."
        return f"{said}The new text was unsupported or unchanged, so the old text was kept."

    points = tuple(p.model_copy(update={"outcome": outcome(p)}) for p in review.weaknesses)
    return review.model_copy(update={"weaknesses": points, "done": True})

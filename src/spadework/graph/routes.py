"""Decide which node comes next, and whether a topic is worth another round. The gain of a round was
measured with benchmarks/rounds_sweep.py (see benchmarks/README.md).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from langgraph.types import Send

from spadework.budget import Budget
from spadework.graph.context import SessionContext
from spadework.graph.effort.workload import Workload
from spadework.graph.pages.provider_search import date_queries, gap_query
from spadework.graph.state import ResearchState
from spadework.tools.ranking.conflicts import conflicts
from spadework.tools.ranking.selection import LOCAL
from spadework.values import (
    CODE,
    Coverage,
    Plan,
    Query,
    Question,
    Recommendation,
    Shortfall,
    Task,
    Topic,
)

#: Topics judged without a model get another round only if its expected gain is at least this.
LEAST_GAIN = 0.17
#: A topic's new score counts as better only if it exceeds the old one by at least this much,
#: because scores computed without a model are inexact. With smaller values, facts were lost.
CLEARLY = 0.1
#: Each shortfall of a topic multiplies the topic's score by this factor.
LACKING = 0.5
#: A round that takes all remaining time or tokens must have at least this expected gain. Cheaper
#: rounds need proportionally less.
WORTH = 0.5
#: Kinds of shortfalls that another search may fix.
RAISING = frozenset({"definition", "steps", "code", "dates", "quality", "freshness", "domains"})
#: The price (see `price`) of a round that takes all remaining time or tokens.
ALL = 1.0


async def price(context: SessionContext, state: ResearchState) -> float:
    """Return what share of the remaining time or tokens a round takes. Record it for replays."""
    rounds = len(state["rounds"])
    return await context.noted("price", f"round {rounds}", share(context.budget, rounds), 0.0)


def share(budget: Budget, rounds: int) -> float:
    """Return the larger of the fractions of remaining time and tokens that a round takes."""
    time = budget.reckoned("search", "read", "assess")
    tokens = (1 - budget.shares["write"]) * budget.limits.tokens - budget.spent("tokens")
    taken = ((budget.elapsed(), time), (budget.spent("tokens"), tokens))
    shares = (spent / rounds / left if left > 0 else 1.0 for spent, left in taken if spent)
    return round(min(1.0, max(shares, default=0.0)), 2)


def open_topics(state: ResearchState) -> list[Topic]:
    """Return the open topics of the plan."""
    found = state["coverage"]
    return [t for t in state["plan"].topics if t.name not in found or not found[t.name].covered]


def worth_asking(state: ResearchState, price: float) -> list[Topic]:
    """Return the topics that are worth another round, including those never judged. `price` is the
    fraction of the remaining time or tokens that a round takes.
    """
    return [topic for topic in state["plan"].topics if _is_worth(topic, state, price)]


def _is_worth(topic: Topic, state: ResearchState, price: float) -> bool:
    found, survey = state["coverage"].get(topic.name), state["plan"].question_type == "list"
    if found is None:
        return True
    if found.covered:
        return price < ALL and bool(_falls_short(topic, state))
    expected = gain(found, lacks(topic, state), survey=survey)
    # LEAST_GAIN applies only to judgements made without a model. A model's judgement names what is
    # missing, so another search has a target.
    least = LEAST_GAIN if found.judge == CODE else 0.0
    return expected >= max(least, WORTH * price)


def no_better(new: Coverage, old: Coverage) -> bool:
    """Return whether to keep a topic's old judgement, because the new one is not clearly better."""
    led = any(wanted.led_to for wanted in old.recommendations)
    answered = new.covered and not old.covered
    return new.score < old.score + CLEARLY and not answered and not led


def gain(found: Coverage, lacking: Collection[str], *, survey: bool = False) -> float:
    """Return the expected gain (0 to 1) of another round for a topic with the shortfalls `lacking`.
    It is always 1 for surveys, for open topics, and if the evidence names something to search
    for.
    """
    led = any(wanted.led_to for wanted in found.recommendations)
    if survey or led or found.state == "open":
        return 1.0
    return 1 - found.score * LACKING ** len(lacking)


def lacks(topic: Topic, state: ResearchState) -> set[str]:
    """Return the shortfalls of a topic that another round may fix."""
    ids = set(state["coverage"][topic.name].evidence_ids)
    own = [e for e in state.get("evidence", []) if e.id in ids]
    return {*_falls_short(topic, state), *({"conflict"} if conflicts(own) else ())}


def _falls_short(topic: Topic, state: ResearchState) -> set[str]:
    kinds = {str(s.kind) for s in state.get("shortfalls", []) if s.topic in ("", topic.name)}
    plan, rounds = state["plan"], state.get("rounds", [])
    if plan.question_type != "latest" and plan.freshness != "now":
        kinds -= {"freshness"}
    before = rounds[-1].quality_before if rounds else None
    if before is not None and (rounds[-1].quality or 0.0) <= before:
        kinds -= {"quality"}
    return kinds & RAISING


#: Fraction of the page limit that the first round may use. Later rounds use the rest to close gaps.
FIRST_ROUND_PAGES = 0.87
LEAST_PAGES = 2
#: The round with this number takes place before any search. It judges the pages of the session
#: being followed up.
KNOWN = 0


def question_of(state: ResearchState) -> Question:
    """Return the question with everything that the caller supplied, such as attachments."""
    before = state.get("before")
    return Question(
        text=state["question"],
        earlier=tuple(state.get("earlier", [])),
        answers=tuple(state.get("answers", [])),
        asked_on=state.get("asked_on", ""),
        attachments=tuple(state.get("attachments", [])),
        wishes=state.get("wishes", ""),
        keeps=tuple(section.heading for section in before.sections) if before else (),
    )


def received(state: ResearchState) -> str:
    """Return the name of the node after `receive`. It is "revise" to change the form of the report,
    "write" to answer from known evidence, and "clarify" to begin the research.
    """
    return {"form": "revise", "known": "write"}.get(state["turn"].kind, "clarify")


def known_tasks(plan: Plan) -> list[Task]:
    """Return one task per topic for workers that use only existing pages."""
    return [Task(topic=topic, queries=(), round=KNOWN, pages=0) for topic in plan.topics]


def first_tasks(plan: Plan, budget: Budget, load: Workload) -> list[Task]:
    """Return one task per topic. If they could exceed the page limit together, they share it."""
    topics, share = len(plan.topics), int(budget.limits.pages * FIRST_ROUND_PAGES)
    most, broad = max(LEAST_PAGES * topics, share), load.broad or plan.question_type == "list"
    return [
        Task(
            topic=topic,
            queries=date_queries(topic.queries[: load.queries], plan.freshness),
            pages=load.pages,
            broad=broad,
            own=broad,
            together=most if most < topics * load.pages else None,
        )
        for topic in plan.topics
    ]


class _Gap(NamedTuple):
    """Another search for a topic. If `again`, earlier unread hits are considered too."""

    topic: Topic
    queries: tuple[Query, ...]
    again: bool


def gap_tasks(
    state: ResearchState, budget: Budget, load: Workload, price: float = 0.0
) -> list[Task]:
    """Return tasks for the topics that are worth another round at this `price` (see
    `worth_asking`). A topic's own queries come before recommended ones.
    """
    number, plan = max(task.round for task in state["tasks"]) + 1, state["plan"]
    if number == KNOWN + 1:
        return _tasks_after_known(state, budget, load)
    # Divide the remaining pages among the workers in advance. Otherwise, the fastest worker would
    # take the last pages.
    most = max(0, int(budget.limits.pages - budget.spent("pages")))
    going, broad = _gaps(state, load, price, number)[:most], plan.question_type == "list"
    return [
        Task(
            topic=gap.topic,
            queries=gap.queries,
            again=date_queries(gap.topic.queries, plan.freshness) if gap.again else (),
            round=number,
            pages=min(load.gap_pages, most),
            broad=broad,
            own=broad,
            together=most if most < len(going) * load.gap_pages else None,
        )
        for gap in going
    ]


def _tasks_after_known(state: ResearchState, budget: Budget, load: Workload) -> list[Task]:
    unanswered = open_topics(state)
    if not unanswered:
        return []
    left = state["plan"].model_copy(update={"topics": tuple(unanswered)})
    made = []
    for task in first_tasks(left, budget, load):
        own = {(query.text.lower(), query.exclude_domains) for query in task.queries}
        found = _recommended_searches(task.topic, state["coverage"].get(task.topic.name), ())
        led = _gap_queries([r for r in found if r.led_to], own, state["plan"], load)
        made.append(task.model_copy(update={"queries": (*task.queries, *led)}))
    return made


def _gaps(state: ResearchState, load: Workload, price: float, number: int) -> list[_Gap]:
    plan, lacking = state["plan"], state.get("shortfalls", [])
    asked = {
        (query.text.lower(), query.exclude_domains)
        for task in state["tasks"]
        for query in task.queries
    }
    unread = {f.topic for f in state.get("finds", []) if f.left and f.round == number - 1}
    going = []
    # The first topic also gets the queries about what the whole answer lacks.
    whole = _gap_queries([s.recommendation for s in lacking if not s.topic], asked, plan, load)
    for topic in worth_asking(state, price):
        found = state["coverage"].get(topic.name)
        wanted = _recommended_searches(topic, found, lacking)
        gaps = _gap_queries(wanted, asked, plan, load)
        led = any(r.led_to for r in wanted)
        again = plan.question_type == "list" or (not led and (load.reads_on or not gaps))
        again = again and not (found and found.covered)
        queries = (*_queries_unasked(topic, state, asked, load), *gaps)
        queries = (*queries, *whole[: max(0, load.gap_queries - len(queries))])
        if queries or (again and topic.name in unread):
            going.append(_Gap(topic, queries, again))
            whole = ()
    return going


def _queries_unasked(
    topic: Topic, state: ResearchState, asked: set[tuple[str, tuple[str, ...]]], load: Workload
) -> tuple[Query, ...]:
    """Return a topic's unsent queries, or all queries if only earlier runs read its web pages."""
    pages = [
        page for find in state.get("finds", []) if find.topic == topic.name for page in find.pages
    ]
    known = [page.known for page in pages if not page.url.startswith(LOCAL)]
    anew, own = bool(known) and all(known), topic.queries[: load.queries]
    unasked = [q for q in own if anew or (q.text.lower(), q.exclude_domains) not in asked]
    return date_queries(unasked, state["plan"].freshness)


def _recommended_searches(
    topic: Topic, found: Coverage | None, lacking: Sequence[Shortfall]
) -> list[Recommendation]:
    made = [
        *(found.recommendations if found else ()),
        *(s.recommendation for s in lacking if s.topic == topic.name),
    ]
    return sorted(made, key=lambda wanted: ("high", "medium", "low").index(wanted.priority))


def _gap_queries(
    recommended: Sequence[Recommendation],
    before: set[tuple[str, tuple[str, ...]]],
    plan: Plan,
    load: Workload,
) -> tuple[Query, ...]:
    fresh = [r for r in recommended if (r.query.lower(), r.exclude_domains) not in before]
    # If two recommended searches have the same text, keep the first.
    wanted = {r.query: r for r in reversed(fresh)}
    texts = [*dict.fromkeys(r.query for r in fresh)][: load.gap_queries]
    return tuple(gap_query(wanted[text], plan, load.gap_seconds) for text in texts)


def workers(state: ResearchState) -> list[Send] | str:
    """Return one worker per task of the latest round, or "write" if no task is left."""
    newest = max((task.round for task in state.get("tasks", [])), default=KNOWN)
    done = {find.round for find in state.get("finds", [])} | {
        r.number for r in state.get("rounds", [])
    }
    tasks = [task for task in state.get("tasks", []) if task.round == newest and newest not in done]
    if not tasks:
        return "write"
    return [Send("worker", payload(state, task)) for task in tasks]


def after_assess(state: ResearchState) -> list[Send] | str:
    """Return workers for the gaps, or "write" if the research ends."""
    return "write" if state.get("stopped_by") else workers(state)


def after_review(state: ResearchState) -> list[Send] | str:
    """Return the workers that the review requests, or else "write", or "save" without a review."""
    review = state.get("review")
    return "save" if review is None or review.done else workers(state)


def payload(state: ResearchState, task: Task) -> dict[str, Any]:
    """Return a worker's input. `among` lists the topics that divide the pages among them ([] if
    the worker may read any page). `read_before` lists the URLs of pages already read.
    """
    before = [
        page.url
        for find in state.get("finds", [])
        if task.own or find.topic == task.topic.name
        for page in find.pages
    ]
    first = min(other.round for other in state["tasks"])
    attached = state.get("attached", []) if task.round == first else []
    together = [other.topic.name for other in state["tasks"] if other.round == task.round]
    plan = state["plan"]
    return {
        "session_id": state["session_id"],
        "question": plan.question,
        "task": task,
        "topics": len(plan.topics),
        "tasks": len(together),
        "plan_seconds": state.get("plan_seconds", 0.0),
        "read_before": before,
        "attached": attached,
        "among": together if task.own or task.together is not None else [],
        "joint": plan.question_type == "list",
    }

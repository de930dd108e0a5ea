"""Apply the user's edits to a plan, given as commands, topic names or free text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from spadework.agents.lead import TopicAnswer, topic_of
from spadework.agents.llm.client import Model, first_of
from spadework.agents.llm.structured_output import at_most
from spadework.prompts import render
from spadework.tools.ranking.relevance import query_terms
from spadework.values import Freshness, Plan, Problem, Query, Topic, Visible
from spadework.visible import visible

MOST_TOPICS = 12
#: Answers that accept the plan.
YES = frozenset({"", "y", "yes", "ok", "okay", "go", "approve", "approved", "start", "true"})
#: Examples of change requests that need no model.
FORMS = ("drop 2", "keep 1 3", "add costs")

#: WISH is the prefix of a change request in free text. ACCEPTED is the last line of an answer that
#: requests changes and also accepts the plan.
WISH, ACCEPTED = "change: ", "yes"

_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")
_BY_NUMBER = re.compile(r"(drop|keep)\s+(\d[\d\s,]*)", re.IGNORECASE)
_ADD = re.compile(r"add\s+(\S.*)", re.IGNORECASE)


class Said(NamedTuple):
    """A user's parsed reply to a plan: topics (one per line), change requests, and acceptance."""

    topics: str
    wishes: tuple[str, ...]
    done: bool


def said_in(answer: str) -> Said:
    """Parse a user's reply to a plan. With change requests, only a last line "yes" accepts it."""
    lines = answer.splitlines()
    wishes = tuple(line.removeprefix(WISH).strip() for line in lines if line.startswith(WISH))
    if not wishes:
        return Said(answer, (), done=True)
    done = lines[-1] == ACCEPTED
    named = [line for line in lines[: -1 if done else None] if not line.startswith(WISH)]
    return Said("\n".join(named), wishes, done)


def edit_plan(plan: Plan, answer: str) -> Plan:
    """Return the plan with the topics in `answer`, one per line. "yes" changes nothing."""
    if answer.strip(" .!").lower() in YES:
        return plan
    names = [" ".join(_BULLET.sub("", line).split()) for line in visible(answer).splitlines()]
    return with_topics(plan, [name for name in names if name])


def with_topics(plan: Plan, names: Sequence[str]) -> Plan:
    """Return the plan with the first MOST_TOPICS `names` as topics, or unchanged if none given."""
    known = {topic.name.casefold(): topic for topic in plan.topics}
    topics = {name.casefold(): known.get(name.casefold()) or _new(plan, name) for name in names}
    return (
        plan.model_copy(update={"topics": tuple(topics.values())[:MOST_TOPICS]}) if topics else plan
    )


class Change(NamedTuple):
    """The plan, changed or not (with the `reason`), and whether rules understood the request."""

    plan: Plan
    reason: str = ""
    understood: bool = True


def change_plan(plan: Plan, line: str) -> Change:
    """Apply "drop 2 3", "keep 1 3" or "add NAME" to the plan."""
    line = " ".join(line.split())
    names = [topic.name for topic in plan.topics]
    if found := _ADD.fullmatch(line):
        return with_names(plan, [*names, found[1][0].upper() + found[1][1:]])
    if not (found := _BY_NUMBER.fullmatch(line)):
        return Change(plan, f"“{line[:60]}” was not understood.", understood=False)
    numbers = re.findall(r"\d+", found[2])
    if wrong := next((n for n in numbers if len(n) > 9 or not 1 <= int(n) <= len(names)), ""):
        return Change(plan, f"There is no topic {wrong[:9]}: the plan has {len(names)}.")
    named, dropped = {int(n) for n in numbers}, found[1].lower() == "drop"
    kept = [name for n, name in enumerate(names, 1) if (n in named) != dropped]
    return with_names(plan, kept)


def with_names(plan: Plan, names: Sequence[str]) -> Change:
    """Return the plan with the topics `names`, or the unchanged plan and why they were rejected."""
    if not names:
        return Change(plan, "A plan needs at least one topic.")
    if len(names) > MOST_TOPICS:
        return Change(plan, f"A plan has at most {MOST_TOPICS} topics.")
    folded = [name.casefold() for name in names]
    if twice := next((name for name in names if folded.count(name.casefold()) > 1), ""):
        return Change(plan, f"“{twice[:60]}” is already in the plan.")
    return Change(with_topics(plan, names))


class WishedAnswer(Visible):
    """A changed plan: its topics in order, and how recent pages must be."""

    topics: list[str] = at_most(MOST_TOPICS)
    freshness: Freshness


async def apply_wish(
    model: Model | None, plan: Plan, wish: str, *, seconds: float
) -> tuple[Change, list[Problem]]:
    """Apply a free-text change request. Ask a model only if the rules cannot parse the request."""
    found = change_plan(plan, wish)
    if found.understood:
        return found, []
    failed = found._replace(reason=f"{found.reason} Examples: {', '.join(FORMS)}.")
    if model is None:
        return failed, []
    prompt = render("wished", question=plan.question, plan=plan, wish=wish)

    async def ask(model: Model) -> Change:
        answer = await model.ask("lead", prompt, WishedAnswer, seconds=seconds)
        now = with_topics(plan, [name for name in map(str.strip, answer.topics) if name])
        now = now.model_copy(update={"freshness": answer.freshness})
        return failed if now == plan else Change(now)

    effect = "The plan is unchanged."
    return await first_of(model, "lead", "plan", ask, lambda: failed, effect)


class TopicsAnswer(Visible):
    """The user's new topics, with details filled in."""

    topics: list[TopicAnswer] = at_most(MOST_TOPICS)


async def complete_plan(
    model: Model | None, plan: Plan, before: Plan, *, seconds: float
) -> tuple[Plan, list[Problem]]:
    """Fill in the details of all topics that are not in the plan `before`, in one model call."""
    new = [topic.name for topic in plan.topics if topic not in before.topics]
    if model is None or not new:
        return plan, []

    async def ask(model: Model) -> Plan:
        kept = [topic.name for topic in plan.topics if topic.name not in new]
        prompt = render("edited", question=plan.question, kept=kept, new=new)
        answer = await model.ask("lead", prompt, TopicsAnswer, seconds=seconds)
        made = {topic.name.casefold(): topic_of(topic) for topic in answer.topics if topic.name}
        topics = []
        for topic in plan.topics:
            found = made.get(topic.name.casefold()) if topic.name in new else None
            if found:
                own = {"name": topic.name, "queries": found.queries or topic.queries}
                topic = found.model_copy(update=own)
            topics.append(topic)
        return plan.model_copy(update={"topics": tuple(topics)})

    return await first_of(model, "lead", plan.question, ask, lambda: plan)


def _new(plan: Plan, name: str) -> Topic:
    about = " and ".join(plan.subjects) or plan.question.strip(" ?")
    queries = (Query(text=f"{about} {name}"), Query(text=name, kind="broad"))
    own = tuple(term for term in query_terms(name) if term not in query_terms(about))
    return Topic(name=name, question=name, must_cover=own, queries=queries)

"""A plan as the user changed it: topics kept, and new ones, which the lead finishes, if any."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from spadework.agents.answer_shape import at_most
from spadework.agents.fallback import first_of
from spadework.agents.lead import TopicAnswer, topic_of
from spadework.agents.model import Model
from spadework.prompts import render
from spadework.tools.ranking.relevance import query_terms
from spadework.values import Plan, Problem, Query, Topic, Visible
from spadework.visible import visible

#: Topics of a changed plan at most.
MOST_TOPICS = 12
#: Answers that leave the plan as it is.
YES = frozenset({"", "y", "yes", "ok", "okay", "go", "approve", "approved", "start", "true"})

#: What begins a line of an answer that says in words how the plan shall change; and the last line
#: of one that accepts the plan with that.
WISH, ACCEPTED = "change: ", "yes"

_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


class Said(NamedTuple):
    """An answer: the topics it names, one a line, its wishes, whether it accepts the plan."""

    topics: str
    wishes: tuple[str, ...]
    done: bool


def said_in(answer: str) -> Said:
    """What an answer says of a plan; one with wishes in words accepts it with a last line "yes"."""
    lines = answer.splitlines()
    wishes = tuple(line.removeprefix(WISH).strip() for line in lines if line.startswith(WISH))
    if not wishes:
        return Said(answer, (), done=True)
    done = lines[-1] == ACCEPTED
    named = [line for line in lines[: -1 if done else None] if not line.startswith(WISH)]
    return Said("\n".join(named), wishes, done)


def edit_plan(plan: Plan, answer: str) -> Plan:
    """The plan with the topics that `answer` names, one a line; as it is for a plain yes."""
    if answer.strip(" .!").lower() in YES:
        return plan
    names = [" ".join(_BULLET.sub("", line).split()) for line in visible(answer).splitlines()]
    return with_topics(plan, [name for name in names if name])


def with_topics(plan: Plan, names: Sequence[str]) -> Plan:
    """The plan with the topics of these names, in their order; the plan itself for none."""
    known = {topic.name.casefold(): topic for topic in plan.topics}
    topics = {name.casefold(): known.get(name.casefold()) or _new(plan, name) for name in names}
    return (
        plan.model_copy(update={"topics": tuple(topics.values())[:MOST_TOPICS]}) if topics else plan
    )


class TopicsAnswer(Visible):
    """The topics that the user has named, finished."""

    topics: list[TopicAnswer] = at_most(MOST_TOPICS)


async def complete_plan(
    model: Model | None, plan: Plan, before: Plan, *, seconds: float
) -> tuple[Plan, list[Problem]]:
    """The changed plan with what the lead makes of the topics that are not in the one `before`, in
    one call. Their names and their order are the user's.
    """
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

"""A plan as the user changed it: the topics they name, those of the plan as they were, new ones
with queries of their own.
"""

from __future__ import annotations

import re

from spadework.tools.rank import query_terms
from spadework.values import Plan, Query, Topic
from spadework.visible import visible

#: Topics of a changed plan at most.
MOST_TOPICS = 12
#: Answers that leave the plan as it is.
YES = frozenset({"", "y", "yes", "ok", "okay", "go", "approve", "approved", "start", "true"})

_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s+")


def edited(plan: Plan, answer: str) -> Plan:
    """The plan with the topics that `answer` names, one a line; the plan itself where the answer is
    a plain yes.
    """
    if answer.strip(" .!").lower() in YES:
        return plan
    names = [" ".join(_BULLET.sub("", line).split()) for line in visible(answer).splitlines()]
    known = {topic.name.casefold(): topic for topic in plan.topics}
    topics = {
        name.casefold(): known.get(name.casefold()) or _new(plan, name) for name in names if name
    }
    return (
        plan.model_copy(update={"topics": tuple(topics.values())[:MOST_TOPICS]}) if topics else plan
    )


def _new(plan: Plan, name: str) -> Topic:
    about = " and ".join(plan.subjects) or plan.question.strip(" ?")
    queries = (Query(text=f"{about} {name}"), Query(text=name, kind="broad"))
    own = tuple(term for term in query_terms(name) if term not in query_terms(about))
    return Topic(name=name, question=name, must_cover=own, queries=queries)

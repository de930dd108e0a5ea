"""When a model is asked only for the necessary: at quick effort, if slow, or with few calls
left.
"""

from __future__ import annotations

import math

from spadework.graph.context import SessionContext
from spadework.settings import Role
from spadework.values import Problem, Value

#: Tokens per second below which the model's time is needed for plan, assessment and report.
LEAST_SPEED = 200.0


#: Tokens of hit screening, and the minimum of an assessment and a section; the share that is
#: output; and tokens of the examination.
LOOK_TOKENS, ANSWER_TOKENS, SECTION_TOKENS, SAID = 800, 1_200, 800, 0.1
EXAMINATION_TOKENS = 4_000


def leaves_enough(context: SessionContext, looks: int, tasks: int, topics: int) -> bool:
    """Return whether the screenings leave the calls needed for the answer (an assessment per task,
    a section per topic, summary, verification, editor) and, of tokens and money outside the
    reserve, those of the assessments.
    """
    budget = context.budget
    if budget.limits.calls - budget.spent("calls") - looks < tasks + topics + 3:
        return False
    return payable(context) >= looks * LOOK_TOKENS + tasks * ANSWER_TOKENS


def payable(context: SessionContext, *, closing: bool = False) -> float:
    """Return the tokens left when running calls have cost the usual; money at the assessor's
    price.
    """
    free = context.budget.free(closing=closing, settled=True)
    examining = context.examination is not None and not context.examination.done()
    name = context.model.place("assessor").name if context.model else ""
    told, said = context.settings.prices.get(name.rpartition(":")[2], (0.0, 0.0))
    price = ((1 - SAID) * told + SAID * said) / 1_000_000
    paid = min(free.tokens, free.money / price if price else math.inf)
    return paid - EXAMINATION_TOKENS * examining


class Permission(Value):
    """Whether a model may be asked for optional work; and the note if not."""

    given: bool = True
    problems: tuple[Problem, ...] = ()


async def model_permission(context: SessionContext, *roles: Role) -> Permission:
    """Return whether these roles may be asked; why not, once per run, unless the user chose
    that.
    """
    if context.model is None or context.quick:
        return Permission(given=False)
    for role in roles:
        speed = await context.model.speed(role)
        if speed is not None and speed < LEAST_SPEED:
            name, said = context.model.name(role), context.said_slow
            reason = f"It reads about {speed:.0f} tokens a second." if speed else _LATE
            slow = Problem(stage="judge", subject=name, reason=reason, effect=_EFFECT)
            context.said_slow = True
            return Permission(given=False, problems=() if said else (slow,))
    return Permission()


_LATE = "It did not answer in time."
_EFFECT = (
    "From then on it was asked neither to look at hits nor to clean pages: its time is left for"
    " the plan, the judging and the report."
)

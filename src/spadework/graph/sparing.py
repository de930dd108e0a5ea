"""When a model is asked only for what must be: in quick effort, where it is slow, where calls are
few. Looking at hits and cleaning pages then are left out.
"""

from __future__ import annotations

import math

from spadework.agents.model import Model
from spadework.graph.desk import Desk
from spadework.settings import Role
from spadework.values import Problem, Value

#: Tokens in a second: a model that reads fewer needs its time for the plan, the assessment and the
#: report.
LEAST_SPEED = 200.0


#: Tokens that a look at hits takes, and an assessment and a section at the least; the share of
#: them that is said, not told. Those of the model's examination.
LOOK_TOKENS, ANSWER_TOKENS, SECTION_TOKENS, SAID = 800, 1_200, 800, 0.1
EXAMINATION_TOKENS = 4_000


def leaves_enough(desk: Desk, looks: int, tasks: int, topics: int) -> bool:
    """Whether so many looks leave the calls that the answer needs: an assessment for each of the
    `tasks` of the round, a section a topic, the summary, the check of citations and the editor; and
    what those assessments take of the tokens and the money that are not held back for writing.
    """
    budget = desk.budget
    if budget.limits.calls - budget.spent("calls") - looks < tasks + topics + 3:
        return False
    return payable(desk) >= looks * LOOK_TOKENS + tasks * ANSWER_TOKENS


def payable(desk: Desk, *, closing: bool = False) -> float:
    """Tokens that the purses can pay when all that is under way has cost what it usually does; that
    of money by the price of the assessor's model.
    """
    free = desk.budget.free(closing=closing, settled=True)
    examining = desk.examination is not None and not desk.examination.done()
    name = desk.model.place("assessor").name if desk.model else ""
    told, said = desk.settings.prices.get(name.rpartition(":")[2], (0.0, 0.0))
    price = ((1 - SAID) * told + SAID * said) / 1_000_000
    paid = min(free.tokens, free.money / price if price else math.inf)
    return paid - EXAMINATION_TOKENS * examining


class Leave(Value):
    """Whether a model may be asked for what can be left out, which the purse, the clock and its
    speed decide; and what is said where not.
    """

    given: bool = True
    problems: tuple[Problem, ...] = ()


async def sparing(desk: Desk, *roles: Role) -> Leave:
    """Whether these roles may be asked, and why not, where that is not what the user has chosen. It
    is said once in a run.
    """
    if desk.model is None or desk.quick:
        return Leave(given=False)
    slow = await _slowness(desk.model, *roles)
    said = (slow,) if slow and not desk.said_slow else ()
    desk.said_slow = desk.said_slow or bool(said)
    return Leave(given=slow is None, problems=said)


async def _slowness(model: Model, *roles: Role) -> Problem | None:
    """Why a model is spared; None for one that is fast, or that nothing is known of."""
    for role in roles:
        speed = await model.speed(role)
        if speed is not None and speed < LEAST_SPEED:
            reason = f"It reads about {speed:.0f} tokens a second." if speed else _LATE
            return Problem(stage="judge", subject=model.name(role), reason=reason, effect=_EFFECT)
    return None


_LATE = "It did not answer in time."
_EFFECT = (
    "From then on it was asked neither to look at hits nor to clean pages: its time is left for"
    " the plan, the judging and the report."
)

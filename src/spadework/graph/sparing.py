"""When a model is asked only for what must be: in quick effort, where it is slow, where calls are
few. Looking at hits and cleaning pages then are left out.
"""

from __future__ import annotations

from spadework.agents.model import Model
from spadework.budget import Budget
from spadework.graph.desk import Desk
from spadework.settings import Role
from spadework.values import Problem, Value

#: Tokens in a second: a model that reads fewer needs its time for the plan, the assessment and the
#: report.
LEAST_SPEED = 200.0


def leaves_enough(budget: Budget, calls: int, topics: int) -> bool:
    """Whether so many calls leave those that the answer needs: an assessment and a section a topic,
    the summary, the check of citations and the editor.
    """
    return budget.limits.calls - budget.spent("calls") - calls >= 2 * topics + 3


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
    "It looked at no hits and cleaned no pages: its time is left for the plan, the judging and the"
    " report."
)

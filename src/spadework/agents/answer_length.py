"""How long the answers of a role usually are: reckoned before the first, then by its last ones."""

from __future__ import annotations

from collections.abc import Sequence

from spadework.settings import Role

#: Tokens of a long answer of a role, until its model is known, and for the forecast.
ANSWERS: dict[Role, int] = {
    "lead": 1_200,
    "assessor": 900,
    "judge": 600,
    "cleaner": 600,
    "writer": 900,
    "verifier": 600,
}
#: Tokens that a model which reasons thinks before such an answer.
THOUGHTS = 2_000
#: So many of the last answers are remembered, and the next is reckoned to be no longer than the
#: longest of them by this factor. Of lengths whose standard deviation is half their mean one in 40
#: is (drawn log-normally; without the factor one in 9), and that is asked again with more room.
REMEMBERED, MARGIN = 8, 1.5
#: The roles that close a run.
CLOSING: tuple[Role, ...] = ("writer", "verifier")


def usual(role: Role, answers: Sequence[int], *, thinks: bool) -> int:
    """Tokens that an answer of a role, thoughts included, has at most by those of its last ones."""
    longest = int(MARGIN * max(answers, default=0))
    if len(answers) >= REMEMBERED:
        return longest
    return max(longest, ANSWERS[role] + (THOUGHTS if thinks else 0))

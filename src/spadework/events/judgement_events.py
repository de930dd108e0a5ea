"""Events of judging: model calls, and coverage after a round."""

from __future__ import annotations

from typing import ClassVar, Literal

from spadework.events.timed import Timed
from spadework.values import Coverage, Evidence, Need, Usage

#: Outcome of a model call: right shape, wrong shape, unsupported method of structured output,
#: request too long, timeout, failure, or over budget.
Verdict = Literal["fits", "misshapen", "unsupported", "too long", "late", "failed", "unpaid"]


class Called(Timed):
    """A role's call to a model for an answer of some shape, by a method of structured output, with
    cost and outcome. Money is in US dollars, None if the price is unknown. `asked` is the digest of
    the request.
    """

    about: ClassVar[tuple[str, ...]] = ("asked",)
    type: Literal["called"] = "called"
    role: str
    model: str
    shape: str
    method: str = ""
    asked: str
    tokens_in: int = 0
    tokens_out: int = 0
    money: float | None = 0.0
    verdict: Verdict
    reason: str = ""

    @property
    def answered(self) -> bool:
        """Return whether the model replied, in the requested shape or not."""
        return self.verdict in ("fits", "misshapen")

    @property
    def failed(self) -> bool:
        """Whether a retry may succeed."""
        return self.verdict in ("late", "failed", "unpaid")


class Distilled(Timed):
    """The pages of a topic were split into passages, which are judged."""

    type: Literal["distilled"] = "distilled"
    about: ClassVar[tuple[str, ...]] = ("topic", "round")
    topic: str
    need: Need
    passages: int
    round: int = 0


class Proven(Timed):
    """Entries were added to the ledger."""

    about: ClassVar[tuple[str, ...]] = ("evidence",)
    type: Literal["proven"] = "proven"
    evidence: tuple[Evidence, ...]


class Scored(Timed):
    """A topic's score (0..1) before and after a round, the judge, and the reason for the change; so
    its quality (0..10), None if not rated. `evidence` are the entries added in the round.
    """

    about: ClassVar[tuple[str, ...]] = ("topic", "round", "step")
    type: Literal["scored"] = "scored"
    topic: str
    round: int
    before: float
    score: float
    quality_before: float | None = None
    quality: float | None = None
    by: Literal["model", "code"]
    step: Literal["assess", "verify"] = "assess"
    why: str
    evidence: tuple[str, ...] = ()


class Assessed(Timed):
    """A round was judged on the ledger."""

    type: Literal["assessed"] = "assessed"
    about: ClassVar[tuple[str, ...]] = ("round",)
    round: int
    coverage: tuple[Coverage, ...]
    evidence: int
    usage: Usage

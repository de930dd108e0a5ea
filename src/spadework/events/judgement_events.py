"""What is told of the judging: each call of a model, and what is proven after a round."""

from __future__ import annotations

from typing import ClassVar, Literal

from spadework.events.timed import Timed
from spadework.values import Coverage, Evidence, Need, Usage

#: What became of a model's answer: it has the asked shape, or not; the endpoint does not take the
#: way in which the shape was asked; the request was too long; there was no answer in time; the call
#: failed; a limit could not pay for it.
Verdict = Literal["fits", "misshapen", "unsupported", "too long", "late", "failed", "unpaid"]


class Called(Timed):
    """A model was asked once by a role for an answer of a shape, by a method of structured output:
    what it took, and what became of the answer. Money is in US dollars, None where the price is not
    known. `asked` is the digest of the request.
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
    def failed(self) -> bool:
        """It may be answered when it is asked again."""
        return self.verdict in ("late", "failed", "unpaid")


class Distilled(Timed):
    """The pages of a topic were taken apart by what it needs: so many passages are judged."""

    type: Literal["distilled"] = "distilled"
    about: ClassVar[tuple[str, ...]] = ("topic", "round")
    topic: str
    need: Need
    passages: int
    round: int = 0


class Proven(Timed):
    """Entries that the ledger was given."""

    about: ClassVar[tuple[str, ...]] = ("evidence",)
    type: Literal["proven"] = "proven"
    evidence: tuple[Evidence, ...]


class Scored(Timed):
    """The score of a topic after a round, which 0..1 says how far it is proven, and before it: who
    has judged, and what changed it, in words; so its quality, 0..10, None where it was not rated.
    `evidence` are the entries that came with the round.
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

"""What a session was asked to do: the question with its files, and the session it follows up."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Self

from spadework.graph.state import ResearchState


@dataclass(frozen=True)
class Brief:
    """The question, paths of files to read first, the id of the session followed up, and the
    questions before, oldest first, with what was answered to them.
    """

    question: str
    attachments: tuple[str, ...] = ()
    follows: str = ""
    earlier: tuple[str, ...] = ()
    answers: tuple[str, ...] = ()

    def told(self) -> dict[str, Any]:
        """All of it as JSON."""
        return asdict(self)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """The brief that was told."""
        tuples = {name: tuple(told[name]) for name in ("attachments", "earlier", "answers")}
        return cls(told["question"], follows=told["follows"], **tuples)

    def state(self) -> ResearchState:
        """What the graph is given."""
        return {
            "question": self.question,
            "attachments": list(self.attachments),
            "follows": self.follows,
            "earlier": list(self.earlier),
            "answers": list(self.answers),
        }

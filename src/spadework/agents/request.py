"""A request to a model, and who asks."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from spadework.agents.answer_shape import Shape
from spadework.holds import HoldRequest
from spadework.settings import Role

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


class Turn(NamedTuple):
    """Who asks, and until when on the clock of `time.monotonic` an answer is of use."""

    role: Role
    until: float


class Request(NamedTuple):
    """A request: its messages, the shape of its answer, who asks, its tokens as counted here, and
    what it may take.
    """

    messages: list[BaseMessage]
    shape: Shape
    turn: Turn
    counted: int
    wish: HoldRequest

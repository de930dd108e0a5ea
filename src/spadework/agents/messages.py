"""The messages of a request, as they are sent on a rung of the ladder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import BaseModel

from spadework.agents.answer_shape import Method, strict

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


class Message(NamedTuple):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


def as_sent(messages: list[Message], answer: type[BaseModel], rung: Method) -> list[BaseMessage]:
    """The messages as LangChain knows them; JSON mode is told the schema in words."""
    from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

    kinds: dict[str, type[BaseMessage]] = {
        "system": SystemMessage,
        "user": HumanMessage,
        "assistant": AIMessage,
    }
    made = [kinds[m.role](content=m.content) for m in messages]
    if rung == "json_mode":
        made[0] = SystemMessage(
            content=(
                f"{messages[0].content}\n\nAnswer with JSON only, of this"
                f" schema:\n{json.dumps(strict(answer))}"
            )
        )
    return made

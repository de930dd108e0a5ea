"""What is sent to a chat model, on a rung of the ladder, and what stands in its reply."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import BaseModel

from spadework.agents.answer_shape import Method, Shape, begins_with_thought, strict
from spadework.holds import HoldRequest
from spadework.settings import Role
from spadework.tools.text import tokens

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage

#: Tokens that a server is believed to have counted in a request or an answer, at most.
MOST_TOKENS = 1_000_000_000


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


class Message(NamedTuple):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


def as_sent(messages: list[Message], answer: type[BaseModel], rung: Method) -> list[BaseMessage]:
    """The messages as LangChain knows them; JSON mode is told the schema in words."""
    from langchain_core.messages import convert_to_messages

    if rung == "json_mode":
        schema = f"Answer with JSON only, of this schema:\n{json.dumps(strict(answer))}"
        told = messages[0]._replace(content=f"{messages[0].content}\n\n{schema}")
        messages = [told, *messages[1:]]
    return convert_to_messages(messages)


def used_by(reply: AIMessage, tokens_in: int) -> tuple[int, int]:
    """Tokens in and out; counted here where the endpoint does not say."""
    usage = reply.usage_metadata
    if not usage:
        return tokens_in, tokens.count(text_of(reply))
    told_in, told_out = usage["input_tokens"], usage["output_tokens"]
    return min(max(0, told_in), MOST_TOKENS), min(max(0, told_out), MOST_TOKENS)


def thinks(reply: AIMessage) -> bool:
    """Whether the model has thought before it answered, by its usage or its text."""
    usage = reply.usage_metadata
    told = usage.get("output_token_details", {}).get("reasoning", 0) if usage else 0
    return bool(told) or begins_with_thought(text_of(reply))


def text_of(reply: AIMessage) -> str:
    """The text of a reply, or the arguments of its tool call as JSON."""
    calls = [call["args"] for call in reply.tool_calls]
    broken = [call["args"] or "" for call in reply.invalid_tool_calls]
    return json.dumps(calls[0]) if calls else broken[0] if broken else str(reply.text)

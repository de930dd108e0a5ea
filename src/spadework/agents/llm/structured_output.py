"""The shape of an answer: how a model is asked for it, and how it is read from a reply."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, ValidationError

from spadework.holds import HoldRequest
from spadework.settings import Role
from spadework.tools.text import tokens
from spadework.values import Visible

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage


A = TypeVar("A", bound=BaseModel)
Method = Literal["json_schema", "function_calling", "json_mode"]

#: The ways of asking for a shape, the strictest first.
LADDER: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")

_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"^\s*```(?:json)?[^\S\n]*\n(.*?)\n?```\s*$", re.DOTALL)


class Reply(Visible):
    """What a model answers, with the name of the model that did: where one fails, another may
    stand in.
    """

    _author: str = PrivateAttr("")

    @property
    def author(self) -> str:
        """The name of the model that gave the answer."""
        return self._author

    def signed(self, author: str) -> Self:
        """Return it with the name of the model that gave it."""
        self._author = author
        return self


@dataclass(frozen=True)
class Shape:
    """The shape of an answer: a JSON schema as strict mode wants it, and how it is asked for."""

    name: str
    schema: Mapping[str, Any]
    method: Method


@cache
def strict(answer: type[BaseModel]) -> Mapping[str, Any]:
    """The JSON schema as strict mode wants it: every property required, no others, no defaults."""

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        kept = {
            key: walk(value)
            for key, value in node.items()
            if key not in ("default", "title") or isinstance(value, dict)
        }
        if isinstance(kept.get("properties"), dict):
            kept |= {"required": list(kept["properties"]), "additionalProperties": False}
        return kept

    schema: dict[str, Any] = walk(answer.model_json_schema())
    return schema


def parse_answer(text: str, answer: type[A]) -> A:
    """The answer in a reply: JSON, also after a thought or inside a code fence."""
    text = _THOUGHT.sub("", text)
    fence = _FENCED.match(text)
    return answer.model_validate_json(fence.group(1) if fence else text.strip())


def begins_with_thought(text: str) -> bool:
    """Whether a reply begins with a thought, complete or cut off."""
    return text.lstrip().startswith("<think>")


def fault(error: ValidationError) -> str:
    """Where an answer does not have its shape, and why."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"]) or "the answer"
    return f"{where}: {first['msg'][:200]}."


def at_most(count: int, default: Any = ...) -> Any:
    """A list of at most so many items: the model is told, or it rambles on; a longer is taken."""
    return Field(default, json_schema_extra={"maxItems": count})


def within(low: float, high: float) -> Any:
    """A number in an answer, with bounds that are said to the model; one beyond them is taken."""
    return Field(json_schema_extra={"minimum": low, "maximum": high})


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

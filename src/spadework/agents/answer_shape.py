"""The shape of an answer: how a model is asked for it, and how it is read from a reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

A = TypeVar("A", bound=BaseModel)
Method = Literal["json_schema", "function_calling", "json_mode"]

#: The ways of asking for a shape, the strictest first.
LADDER: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")

_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"^\s*```(?:json)?[^\S\n]*\n(.*?)\n?```\s*$", re.DOTALL)


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

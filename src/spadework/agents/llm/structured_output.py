"""Request answers that fit a JSON schema, and find them in the replies."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Self, TypeVar

from pydantic import BaseModel, Field, PrivateAttr, ValidationError

from spadework.budget import HoldRequest
from spadework.settings import Role
from spadework.values import CODE, Visible

if TYPE_CHECKING:
    from langchain_core.messages import BaseMessage


A = TypeVar("A", bound=BaseModel)
Method = Literal["json_schema", "function_calling", "json_mode"]

LADDER: tuple[Method, ...] = ("json_schema", "function_calling", "json_mode")

#: The markers around a model's reasoning.
_THOUGHT_ENDS = re.compile(
    r"</(?:think|thinking|thought|reasoning|seed:think)>|\[/THINK\]|<\|END_THINKING\|>"
    r"|assistantfinal(?=\W)",
    re.IGNORECASE,
)
_THOUGHT_BEGINS = re.compile(
    r"\s*(?:<(?:think|thinking|thought|reasoning|seed:think)>|\[THINK\]|<\|START_THINKING\|>)",
    re.IGNORECASE,
)
#: The channels ("<|channel|>final <|constrain|>json<|message|>…") and end markers of the Harmony
#: format.
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)(?:(?!<\|message\|>).){0,100}<\|message\|>", re.DOTALL)
_MARKS = re.compile(r"<[|｜][^|｜<>]{1,40}[|｜]>|</?s>|<eos>")
_BEGINS = re.compile(r"[{\[]")
#: Repairable faults in almost valid JSON: single quotes, trailing commas and Python's constants.
_LOOSE = re.compile(
    r"""("(?:[^"\\]|\\.)*")|'((?:[^'\\]|\\.)*)'|(,)(?=\s*[}\]])|\b(None|True|False)\b""", re.DOTALL
)
_CONSTANTS = {"None": "null", "True": "true", "False": "false"}
#: The maximum number of positions tried as the start of JSON, and of repairs per answer.
MOST_BEGINNINGS, MOST_MENDINGS = 200, 4
_DECODER = json.JSONDecoder(strict=False)


class Reply(Visible):
    """A model's answer, with the name of the model that gave it."""

    _author: str = PrivateAttr(CODE)

    @property
    def author(self) -> str:
        """The name of the answering model, or `CODE` if none answered."""
        return self._author

    def signed(self, author: str) -> Self:
        """Set the answering model's name, and return the reply itself."""
        self._author = author
        return self


@dataclass(frozen=True)
class Shape:
    """A strict JSON schema for an answer, and the method to request it with."""

    name: str
    schema: Mapping[str, Any]
    method: Method


@cache
def strict(answer: type[BaseModel]) -> Mapping[str, Any]:
    """Return the schema for strict mode: all properties are required, and no others are allowed.
    Omit descriptions, because prompts already contain them.
    """

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]
        if not isinstance(node, dict):
            return node
        kept = {
            key: walk(value)
            for key, value in node.items()
            if key not in ("default", "title", "description") or isinstance(value, dict)
        }
        if isinstance(kept.get("properties"), dict):
            kept |= {"required": list(kept["properties"]), "additionalProperties": False}
        return kept

    schema: dict[str, Any] = walk(answer.model_json_schema())
    return schema


def parse_answer(text: str, answer: type[A]) -> A:
    """Parse a whole reply or its last JSON value that fits `answer`. Raises ValidationError."""
    try:
        return answer.model_validate_json(text)
    except ValidationError as error:
        why = error
    spoken = split_thought(text)[1]
    for read in (_values, _loose_values):
        for value in reversed(read(spoken)):
            try:
                return _fitted(value, answer)
            except ValidationError as error:
                why = error
    raise why


def split_thought(text: str) -> tuple[str, str]:
    """Split a reply into reasoning and answer. Plain JSON contains no reasoning."""
    text = text.removeprefix("\ufeff")
    if _is_json(text):
        return "", text
    if channels := list(_CHANNEL.finditer(text)):
        last = channels[-1]
        said = text[last.end() :]
        thought, answer = (said, "") if last[1] == "analysis" else (text[: last.start()], said)
    elif ends := list(_THOUGHT_ENDS.finditer(text)):
        thought, answer = text[: ends[-1].start()], text[ends[-1].end() :]
    elif begins := _THOUGHT_BEGINS.match(text):
        thought, answer = text[begins.end() :], ""
    else:
        thought, answer = "", text
    return thought, answer.strip() if _MARKS.sub("", answer).strip() else ""


def holds_object(text: str) -> bool:
    """Return whether a text contains a JSON object."""
    return any(isinstance(value, dict) for value in _values(text))


def _is_json(text: str) -> bool:
    try:
        return isinstance(json.loads(text, strict=False), dict | list | str)
    except (ValueError, RecursionError):
        return False


def _values(text: str) -> list[Any]:
    text = text.strip()
    if text.startswith('"') and _is_json(text):
        text = json.loads(text, strict=False)
    found, at = [], 0
    for _ in range(MOST_BEGINNINGS):
        begins = _BEGINS.search(text, at)
        if begins is None:
            break
        try:
            value, end = _DECODER.raw_decode(text, begins.start())
        except (ValueError, RecursionError):
            at = begins.end()
            continue
        found += [value] if value else []
        at = end
    return found


def _loose_values(text: str) -> list[Any]:

    def mended(match: re.Match[str]) -> str:
        double, single, comma, constant = match.groups()
        if single is not None:
            return json.dumps(single.replace("\\'", "'"))
        return double or ("" if comma else _CONSTANTS[constant])

    return _values(_LOOSE.sub(mended, text[text.find("{") :])) if "{" in text else []


def _fitted(value: Any, answer: type[A]) -> A:
    for _ in range(MOST_MENDINGS):
        value = _unwrapped(value, answer)
        try:
            return answer.model_validate_json(json.dumps(value))
        except ValidationError as error:
            if not sum(_mend(value, each) for each in error.errors()):
                raise
    return answer.model_validate_json(json.dumps(value))


def _unwrapped(value: Any, answer: type[BaseModel]) -> Any:
    if isinstance(value, str):
        return next(iter(_values(value)), value)
    if isinstance(value, list) and len(value) == 1:
        return value[0]
    if not isinstance(value, dict) or value.keys() & answer.model_fields.keys():
        return value
    named = (value.get(name) for name in ("properties", "arguments", "parameters"))
    under = next(filter(None, named), next(iter(value.values()), None) if len(value) == 1 else None)
    return _unwrapped(under, answer) if isinstance(under, dict | str) else value


def _mend(value: Any, fault: Any) -> bool:
    """Fix one validation error in `value`. Return whether anything changed."""
    *way, last = fault["loc"] or (None,)
    given = fault["input"]
    held = _values(given) if isinstance(given, str) and fault["type"] != "string_type" else []
    try:
        for step in way:
            value = value[step]
        if given is None and isinstance(value, dict):
            del value[last]
        elif held and value[last] == given:
            value[last] = held[0]
        else:
            return False
    except (KeyError, IndexError, TypeError):
        return False
    return True


def fault(error: ValidationError) -> str:
    """Describe the first fault in an answer and its location."""
    first = error.errors()[0]
    if first["type"] == "json_invalid" and not first["input"]:
        return "it was empty."
    where = ".".join(str(part) for part in first["loc"]) or "the answer"
    return f"{where}: {first['msg'][:200]}."


def at_most(count: int, default: Any = ...) -> Any:
    """Declare a list with a maximum length in its schema. Longer lists are still accepted."""
    return Field(default, json_schema_extra={"maxItems": count})


def bounded(low: float, high: float) -> Any:
    """Declare a number with bounds in its schema. Numbers outside them are still accepted."""
    return Field(json_schema_extra={"minimum": low, "maximum": high})


class Turn(NamedTuple):
    """The role to ask, and the time (`time.monotonic`) after which an answer is useless."""

    role: Role
    until: float


class Request(NamedTuple):
    """A request to a model.
    - `words`, `counted`: the number of tokens without and with the schema.
    - `wish`: the budget to reserve.
    """

    messages: list[BaseMessage]
    shape: Shape
    turn: Turn
    words: int
    counted: int
    wish: HoldRequest


class Message(NamedTuple):
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


def as_sent(messages: list[Message], answer: type[BaseModel], rung: Method) -> list[BaseMessage]:
    """Convert messages for LangChain. If `rung` is JSON mode, add the schema to the first."""
    from langchain_core.messages import convert_to_messages

    if rung == "json_mode":
        schema = f"Answer with JSON only, of this schema:\n{json.dumps(strict(answer))}"
        told = messages[0]._replace(content=f"{messages[0].content}\n\n{schema}")
        messages = [told, *messages[1:]]
    return convert_to_messages(messages)

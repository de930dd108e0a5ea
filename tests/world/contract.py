"""What OpenAI refuses with 400 although it is good JSON: schemas that are not strict, and
parameters that reasoning models do not take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tests.world.chat import ChatRequest

_REASONING = re.compile(r"^(gpt-5|o\d)")
_NAME = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_NOT_PERMITTED = (
    *("allOf", "default", "dependentRequired", "dependentSchemas", "else", "if"),
    *("not", "oneOf", "patternProperties", "then", "uniqueItems"),
)


def complaint(request: ChatRequest) -> str:
    """Why OpenAI would refuse this request, or ""."""
    return next(_complaints(request), "")


def _complaints(request: ChatRequest) -> Iterator[str]:
    data, formatted = request.data, request.data.get("response_format", {})
    if _REASONING.match(request.model):
        if data.get("temperature", 1) not in (None, 1):
            yield (
                "Unsupported value: 'temperature' does not support this value with this model. Only"
                " the default (1) value is supported."
            )
        if data.get("max_tokens") is not None:
            yield (
                "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
                " 'max_completion_tokens' instead."
            )
    if formatted.get("type") == "json_object" and "json" not in request.prompt.lower():
        yield (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type"
            " 'json_object'."
        )
    named = [formatted["json_schema"]] if formatted.get("type") == "json_schema" else []
    for part in named + [tool["function"] for tool in data.get("tools", ())]:
        if not _NAME.match(part["name"]):
            yield f"Invalid name '{part['name']}': string does not match pattern."
        if part.get("strict"):
            schema = part.get("schema") or part.get("parameters") or {}
            yield from (f"Invalid schema for '{part['name']}': {fault}" for fault in faults(schema))


def faults(schema: dict[str, Any]) -> Iterator[str]:
    """Where a schema breaks the rules of strict mode."""
    if schema.get("type") != "object":
        yield "schema must be a JSON Schema of 'type: \"object\"'."
    yield from _faults(schema, ())


def _faults(schema: dict[str, Any], place: tuple[str, ...]) -> Iterator[str]:
    where = f"In context={place}, "
    yield from (f"{where}'{word}' is not permitted." for word in _NOT_PERMITTED if word in schema)
    if "$ref" in schema and len(schema) > 1:
        yield f"{where}$ref cannot have keywords {set(schema) - {'$ref'}}."
    properties: dict[str, Any] = schema.get("properties", {})
    if schema.get("type") == "object":
        if schema.get("additionalProperties") is not False:
            yield f"{where}'additionalProperties' is required to be supplied and to be false."
        if set(schema.get("required", ())) != set(properties):
            yield (
                f"{where}'required' is required to be supplied and to be an array including every"
                " key in properties."
            )
    for name, part in [*properties.items(), *schema.get("$defs", {}).items()]:
        yield from _faults(part, (*place, name))
    for part in [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]:
        yield from _faults(part, (*place, "items"))

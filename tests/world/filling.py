"""An answer that fits a JSON schema, made without understanding: words of the prompt, numbers
within bounds, the first of every choice.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any

#: Nesting at which optional lists stay empty, so that a schema that contains itself ends.
DEEP = 8
_FORMATS = {
    "date": "2026-03-04",
    "date-time": "2026-03-04T07:30:00Z",
    "time": "07:30:00Z",
    "uri": "http://127.0.1.1/",
    "email": "a@example.org",
}


def fill(schema: dict[str, Any], prompt: str) -> Any:
    """A value that `schema` allows. Its strings are the lines of `prompt` in turn. `pattern` is not
    understood.
    """
    lines = [line.strip()[:80] for line in prompt.splitlines() if re.search(r"\w{3}", line)] or [
        "nothing"
    ]
    return _Filling(schema.get("$defs", {}), itertools.cycle(lines)).value(schema, 0)


class _Filling:
    def __init__(self, definitions: dict[str, Any], lines: Iterator[str]) -> None:
        self._definitions = definitions
        self._lines = lines

    def value(self, schema: dict[str, Any], depth: int) -> Any:
        if "$ref" in schema:
            return self.value(self._definitions[schema["$ref"].rsplit("/", 1)[1]], depth + 1)
        if "const" in schema or "enum" in schema:
            return schema.get("const", schema.get("enum", [None])[0])
        choices = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if choices:
            return self.value(self._simplest(choices, depth), depth + 1)
        kind = schema.get("type", "string")
        return self._plain(kind[0] if isinstance(kind, list) else kind, schema, depth)

    def _simplest(self, choices: list[dict[str, Any]], depth: int) -> dict[str, Any]:
        """The first choice that is not null; null where it goes too deep."""
        nothing = [choice for choice in choices if choice.get("type") == "null"]
        something = [choice for choice in choices if choice.get("type") != "null"]
        return (nothing if nothing and depth > DEEP else something or nothing)[0]

    def _plain(self, kind: str, schema: dict[str, Any], depth: int) -> Any:
        if kind == "object":
            return {
                name: self.value(part, depth + 1)
                for name, part in schema.get("properties", {}).items()
            }
        if kind == "array":
            length = max(
                schema.get("minItems", 0), 0 if depth > DEEP else min(1, schema.get("maxItems", 1))
            )
            return [self.value(schema.get("items", {}), depth + 1) for _ in range(length)]
        if kind in ("integer", "number"):
            return _number(kind, schema)
        return (
            {"boolean": False, "null": None}[kind]
            if kind in ("boolean", "null")
            else self._string(schema)
        )

    def _string(self, schema: dict[str, Any]) -> str:
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        return next(self._lines).ljust(schema.get("minLength", 0), "x")[: schema.get("maxLength")]


def _number(kind: str, schema: dict[str, Any]) -> float:
    """The lowest number allowed, or the highest one where only that is bounded, or 0."""
    step = 1 if kind == "integer" else 1e-6
    low = schema.get(
        "minimum", schema["exclusiveMinimum"] + step if "exclusiveMinimum" in schema else None
    )
    high = schema.get(
        "maximum", schema["exclusiveMaximum"] - step if "exclusiveMaximum" in schema else None
    )
    if low is not None:
        return math.ceil(low) if kind == "integer" else float(low)
    return min(0, math.floor(high) if kind == "integer" else float(high)) if high is not None else 0

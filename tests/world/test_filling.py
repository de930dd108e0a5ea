"""What is filled in without a script is always allowed by the schema."""

from __future__ import annotations

import json
from typing import Literal

from hypothesis import given, strategies as st
from pydantic import BaseModel, TypeAdapter

from tests.world.contract import faults
from tests.world.filling import fill

_NAMES = st.sampled_from(["name", "score", "kind", "items", "note"])
_LEAVES = st.one_of(
    st.builds(
        lambda low, more: {"type": "integer", "minimum": low, "maximum": low + more},
        st.integers(-9, 9),
        st.integers(0, 9),
    ),
    st.builds(lambda high: {"type": "number", "exclusiveMaximum": high}, st.floats(-5, 5)),
    st.builds(lambda low: {"type": "number", "exclusiveMinimum": low}, st.integers(-5, 5)),
    st.builds(
        lambda low, more: {"type": "string", "minLength": low, "maxLength": low + more},
        st.integers(0, 99),
        st.integers(0, 99),
    ),
    st.sampled_from(
        [
            {"type": "boolean"},
            {"type": "null"},
            {"enum": ["b", "a"]},
            {"const": 7},
            {"type": ["string", "null"]},
        ]
    ),
)


def record(parts):
    return {"type": "object", "properties": parts, "required": list(parts)}


_SCHEMAS = st.recursive(
    _LEAVES,
    lambda inner: st.one_of(
        st.builds(
            lambda item, low: {"type": "array", "items": item, "minItems": low},
            inner,
            st.integers(0, 3),
        ),
        st.builds(lambda choice: {"anyOf": [{"type": "null"}, choice]}, inner),
        st.builds(
            lambda parts: {"type": "object", "properties": parts, "required": list(parts)},
            st.dictionaries(_NAMES, inner, max_size=3),
        ),
    ),
    max_leaves=8,
)


@given(_SCHEMAS, st.text(max_size=300))
def test_every_value_is_allowed(schema, prompt):
    assert allowed(json.loads(json.dumps(fill(schema, prompt))), schema)


def allowed(value, schema) -> bool:
    if "anyOf" in schema:
        return any(allowed(value, choice) for choice in schema["anyOf"])
    if "const" in schema or "enum" in schema:
        return value in schema.get("enum", [schema.get("const")])
    match schema["type"]:
        case "object":
            return set(value) == set(schema["required"]) and all(
                allowed(value[name], part) for name, part in schema["properties"].items()
            )
        case "array":
            return len(value) >= schema["minItems"] and all(
                allowed(item, schema["items"]) for item in value
            )
        case "integer":
            return type(value) is int and schema["minimum"] <= value <= schema["maximum"]
        case "number":
            return value < schema.get("exclusiveMaximum", 99) and value > schema.get(
                "exclusiveMinimum", -99
            )
        case "string":
            return schema["minLength"] <= len(value) <= schema["maxLength"]
    return value is None or isinstance(value, bool | str)


class Tree(BaseModel):
    """A schema that contains itself."""

    name: str
    kind: Literal["oak", "ash"]
    children: list[Tree]
    parent: Tree | None


def test_a_schema_that_contains_itself_ends():
    made = TypeAdapter(Tree).validate_python(
        fill(Tree.model_json_schema(), "first line\nsecond line")
    )
    assert (made.name, made.kind) == ("first line", "oak")


def test_strict_schemas_are_told_from_others():
    good = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    assert list(faults(good)) == []
    for bad in (
        {"type": "array", "items": good},
        good | {"required": []},
        good | {"additionalProperties": True},
        good | {"properties": {"a": {"type": "string", "default": "x"}}},
        good | {"properties": {"a": {"oneOf": []}}},
        good | {"properties": {"a": {"$ref": "#/$defs/b", "description": "a b"}}},
        good | {"$defs": {"b": good | {"required": []}}},
    ):
        assert list(faults(bad)), bad

"""Schemas of the tools, kept short because clients show them all to their models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from mcp_types import Tool

from spadework.apps.mcp.output_schemas import PAGE_TEXT
from spadework.apps.mcp.serp_search import OFFERED
from spadework.apps.outputs import prints_pdf
from spadework.sessions.lookups.search_only import usable
from spadework.settings import Settings

Schema = dict[str, Any]

#: Keywords a model does not need, in arguments and in outputs, whose fields are always present.
#: Validation uses the full schemas.
_OF_ARGUMENTS = ("title", "additionalProperties", "minLength", "maxLength")
_OF_ANSWERS = (*_OF_ARGUMENTS, "default", "required", "minimum", "maximum")


def shorten_schemas(tool: Tool) -> Tool:
    """Return the tool with short schemas; objects in output lists are described by their fields."""
    given = tool.output_schema
    if given:
        named: Mapping[str, Schema] = given.get("$defs", {})
        fields = {
            name: _short(one, _OF_ANSWERS, named) for name, one in given["properties"].items()
        }
        given = {"type": "object", "properties": fields}
    return tool.model_copy(
        update={
            "description": " ".join((tool.description or "").split()),
            "input_schema": _short(tool.input_schema, _OF_ARGUMENTS, {}),
            "output_schema": given,
        }
    )


def _short(schema: Schema, dropped: tuple[str, ...], named: Mapping[str, Schema]) -> Schema:
    """Return a schema without `dropped` keywords, with references described in words."""
    if "$ref" in schema:
        told = _describe_fields(named[schema["$ref"].removeprefix("#/$defs/")])
        return {"type": "object", "description": schema.get("description", told)}
    made: Schema = {}
    for name, value in schema.items():
        if name in dropped or (name == "default" and not value):
            continue
        if name == "properties":
            made[name] = {key: _short(one, dropped, named) for key, one in value.items()}
        elif isinstance(value, dict):
            made[name] = _short(value, dropped, named)
        elif name == "anyOf":
            made |= _either([_short(one, dropped, named) for one in value])
        else:
            made[name] = value
    return made


def _describe_fields(schema: Schema) -> str:
    """Describe an object's fields in words; mention page text only once."""
    said = {name: one.get("description", "") for name, one in schema["properties"].items()}
    fields = ", ".join(
        f"{name} ({words.removesuffix('.')})" if words and PAGE_TEXT not in words else name
        for name, words in said.items()
    )
    return f"{fields}. {PAGE_TEXT}" if PAGE_TEXT in said.values() else fields


def _either(options: list[Schema]) -> Schema:
    """Return a choice of schemas; null alternatives become part of the type."""
    others = [one for one in options if one != {"type": "null"}]
    if len(others) == 1 and len(options) == 2 and isinstance(others[0].get("type"), str):
        return others[0] | {"type": [others[0]["type"], "null"]}
    return {"anyOf": options}


def offer_tools(tools: Sequence[Tool], settings: Settings) -> list[Tool]:
    """Return the tools without what this server lacks."""
    made = [tool.model_copy(update={"input_schema": deepcopy(tool.input_schema)}) for tool in tools]
    arguments = {tool.name: tool.input_schema["properties"] for tool in made}
    provider = arguments["serp_search"]["provider"]
    provider["description"] = provider["description"].replace(OFFERED, ", ".join(usable(settings)))
    if not prints_pdf():
        arguments["create_research_report"]["format"]["enum"].remove("pdf")
    return made

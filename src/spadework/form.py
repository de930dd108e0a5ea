"""Convert settings to a form, and validation errors to sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import AliasChoices, BaseModel, ValidationError

from spadework.errors import must_be

#: Settings reserved for a server's owner. The form omits them, so that LangGraph servers do not
#: store them as plain text.
OWNERS = frozenset(
    {
        *("home", "library", "allow_hosts", "prices", "robots", "user_agent"),
        *("chromium", "browser_sandbox", "serve_hosts"),
        *("parallel_sessions", "drain_seconds", "log"),
    }
)
#: Suffix of the names of settings that hold server addresses. These settings are also reserved for
#: the server's owner.
_SERVER = "_url"
#: The groups of settings in order of use, each with its title and the graph nodes that use it.
GROUPS = {
    "Budgets": ("Limits", ("open", "assess")),
    "Judging": ("Answer", ("plan", "approve", "assess", "write")),
    "Searching": ("Search", ("plan", "worker")),
    "Reading": ("Reading", ("worker",)),
    "Models": ("Models", ("plan", "assess", "write", "verify", "edit")),
}
_CHAT_NODES = ("receive", "research")
_WORDS = {"url": "URL", "mb": "MB", "api": "API", "openai": "OpenAI"}


def as_form(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Turn the JSON schema of `model` into a form without the settings reserved for the owner."""
    given = schema["properties"]
    of = {
        name: base.__name__
        for base in model.__mro__
        for name in vars(base).get("__annotations__", ())
    }
    schema["properties"] = {
        name: entry | _describe(entry) | _place_field(name, *GROUPS[group])
        for group in GROUPS
        for name in model.model_fields
        if of[name] == group and name not in OWNERS and not name.endswith(_SERVER)
        if "password" not in str(entry := given[_key(model, name)])
    }


def _describe(entry: dict[str, Any]) -> dict[str, str]:
    told = " ".join(entry.get("description", "").split())
    return {"description": told} if told else {}


def _place_field(name: str, group: str, nodes: Collection[str]) -> dict[str, Any]:
    at = [*nodes, *_CHAT_NODES]
    return {"title": f"{group}: {_title(name)}", "group": group, "langgraph_nodes": at}


def by_effort(*, quick: int, normal: int, deep: int) -> Callable[[dict[str, Any]], int]:
    """Return a field's default factory, which needs the field `effort` to be declared earlier."""
    values = {"quick": quick, "deep": deep}
    return lambda given: values.get(given.get("effort", ""), normal)


def _title(name: str) -> str:
    words = [_WORDS.get(word, word) for word in name.split("_")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _key(model: type[BaseModel], name: str) -> str:
    alias = model.model_fields[name].validation_alias
    first = alias.choices[0] if isinstance(alias, AliasChoices) else alias
    return first if isinstance(first, str) else name


def sentence(error: ValidationError, fields: Collection[str] = ()) -> str:
    """Describe the first error without secrets. For an unknown name, suggest the nearest field."""
    fault = error.errors()[0]
    name = str(fault["loc"][0]) if fault["loc"] else "settings"
    if fault["type"] == "extra_forbidden" and fields:
        near = get_close_matches(name, fields, 1)
        return f"{name[:80]} is not a setting.{f' Did you mean {near[0]}?' if near else ''}"
    if "key" in name.lower() or name in ("token", "mcp_search"):
        fault["input"] = "***"
    return fault_sentence(name, fault)


#: Plain replacements for phrases in pydantic's messages.
_PLAIN = {
    "valid integer": "whole number",
    "greater than or equal to": "at least",
    "less than or equal to": "at most",
}


def fault_sentence(name: str, fault: Mapping[str, Any]) -> str:
    """Return a pydantic error as a sentence about `name`."""
    if fault["type"] == "missing":
        return f"{name} is missing."
    said = re.sub("^Value error, |, (?:unable|got) .*", "", fault["msg"][:200])
    wanted = said.partition(" should be ")[2]
    for formal, plain in _PLAIN.items():
        wanted = wanted.replace(formal, plain)
    return (
        must_be(name, wanted, fault["input"])
        if wanted
        else f"{name} cannot be {fault['input']!r:.80}: {said}."
    )

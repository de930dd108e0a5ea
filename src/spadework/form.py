"""Settings as a form for LangGraph servers (JSON schema), and its validation errors in words."""

from __future__ import annotations

from collections.abc import Callable, Collection
from difflib import get_close_matches
from typing import Any

from pydantic import AliasChoices, BaseModel, ValidationError

#: Reserved for a server's owner, by environment: files, hosts, endpoints, programs and secrets.
#: LangGraph servers store callers' values as plain text, and drop what is not in the form.
OWNERS = frozenset(
    {
        *("home", "library", "allow_hosts", "prices", "standards", "robots", "user_agent"),
        *("qdrant_collection", "chromium", "browser_sandbox", "serve_hosts", "ask_token"),
        *("parallel_sessions", "drain_seconds", "log", "log_json", "otel"),
    }
)
#: Settings that name servers are reserved too.
_SERVER = "_url"
#: Groups of the form in the order of a run, and the graph nodes they belong to: `research` in the
#: conversation is the whole loop.
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
    """Turn a schema into the form: titled properties in groups, without the owner's."""
    given = schema["properties"]
    # A field belongs to the class that declares it.
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
    """Return a field's description on one line; empty if installed without sources."""
    told = " ".join(entry.get("description", "").split())
    return {"description": told} if told else {}


def _place_field(name: str, group: str, nodes: Collection[str]) -> dict[str, Any]:
    """Return a field's title and place; Studio shows it with the named nodes."""
    at = [*nodes, *_CHAT_NODES]
    return {"title": f"{group}: {_title(name)}", "group": group, "langgraph_nodes": at}


def by_effort(*, quick: int, normal: int, deep: int) -> Callable[[dict[str, Any]], int]:
    """Return a default that depends on the effort, a field that precedes it."""
    values = {"quick": quick, "deep": deep}
    return lambda given: values.get(given.get("effort", ""), normal)


def _title(name: str) -> str:
    """Return a field's name as a title: `openai_base_url` becomes "OpenAI base URL"."""
    words = [_WORDS.get(word, word) for word in name.split("_")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _key(model: type[BaseModel], name: str) -> str:
    """Return the name under which pydantic lists a field."""
    alias = model.model_fields[name].validation_alias
    first = alias.choices[0] if isinstance(alias, AliasChoices) else alias
    return first if isinstance(first, str) else name


def sentence(error: ValidationError, fields: Collection[str] = ()) -> str:
    """Return the first validation error as one short sentence without secrets; for an unknown name,
    with the nearest of `fields`.
    """
    fault = error.errors()[0]
    name = str(fault["loc"][0]) if fault["loc"] else "settings"
    if fault["type"] == "extra_forbidden" and fields:
        near = get_close_matches(name, fields, 1)
        return f"{name[:80]} is no setting.{f' Did you mean {near[0]}?' if near else ''}"
    value = (
        "a secret"
        if "key" in name.lower() or name in ("token", "mcp_search")
        else repr(fault.get("input"))[:80]
    )
    return f"{name} cannot be {value}: {fault['msg'][:200].removeprefix('Value error, ')}."

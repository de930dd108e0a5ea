"""Settings as a form: the JSON schema of LangGraph servers; and what is wrong in it, in words."""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from itertools import pairwise
from typing import Any

from pydantic import AliasChoices, BaseModel, ValidationError

#: What is for the owner of a server alone, by its environment: files, hosts, endpoints and programs
#: of the machine. Secrets are, too: a LangGraph server keeps what a caller sends as plain text. It
#: drops what is not in the form.
OWNERS = frozenset(
    {
        *("home", "library", "allow_hosts", "prices", "robots", "user_agent", "qdrant_collection"),
        *("chromium", "browser_sandbox", "serve_hosts", "ask_token", "upload_files"),
        *("upload_bytes", "parallel_sessions", "drain_seconds", "log", "log_json", "otel"),
    }
)
#: So is every server that is named, whatever for.
_SERVER = "_url"
#: What stands together in the form, in the order in which a run is set up, and the nodes of the
#: graphs that it is for: `research` in the conversation is the whole loop.
GROUPS = {
    "Budgets": ("Limits", ("open", "assess")),
    "Judging": ("Answer", ("plan", "approve", "assess", "write")),
    "Searching": ("Search", ("plan", "worker")),
    "Reading": ("Reading", ("worker",)),
    "Models": ("Models", ("plan", "assess", "write", "verify", "edit")),
    "Serving": ("Server", ()),
}
_CHAT_NODES = ("receive", "research")
_WORDS = {"url": "URL", "rrf": "RRF", "k": "k", "mb": "MB", "api": "API", "openai": "OpenAI"}


def as_form(schema: dict[str, Any], model: type[BaseModel]) -> None:
    """Make a schema the form: titled properties, group by group, without what is the owner's."""
    given, fields = schema["properties"], model.model_fields
    # A field is of the class that declares it.
    of = {
        name: base.__name__
        for base in model.__mro__
        for name in vars(base).get("__annotations__", ())
    }
    schema["properties"] = {
        name: entry | {"description": fields[name].description} | _place_field(name, *GROUPS[group])
        for group in GROUPS
        for name in fields
        if of[name] == group and name not in OWNERS and not name.endswith(_SERVER)
        if "password" not in str(entry := given[_key(model, name)])
    }


def describe_fields(model: type[BaseModel]) -> None:
    """Describe fields by what stands under them, in an eighth of what pydantic takes for it."""
    for base in model.__mro__:
        if vars(base).get("__annotations__", {}).keys() & model.model_fields.keys():
            with suppress(OSError):  # installed without its sources
                for made in ast.parse(inspect.getsource(sys.modules[base.__module__])).body:
                    _describe(model, made.body if isinstance(made, ast.ClassDef) else ())


def _describe(model: type[BaseModel], body: Iterable[ast.stmt]) -> None:
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
            told: str = ast.literal_eval(text.value)
            model.model_fields[ast.unparse(field.target)].description = " ".join(told.split())


def _place_field(name: str, group: str, nodes: Collection[str]) -> dict[str, Any]:
    """Title and place of a field; Studio offers it beside the nodes that are named."""
    at = {"langgraph_nodes": [*nodes, *_CHAT_NODES]} if nodes else {}
    return {"title": f"{group}: {_title(name)}", "group": group, **at}


def by_effort(*, quick: int, normal: int, deep: int) -> Callable[[dict[str, Any]], int]:
    """The value of a field that is not set: by the effort, a field that stands before it."""
    values = {"quick": quick, "deep": deep}
    return lambda given: values.get(given.get("effort", ""), normal)


def _title(name: str) -> str:
    """The name of a field as a title: `rrf_k` is "RRF k"."""
    words = [_WORDS.get(word, word) for word in name.split("_")]
    return " ".join([words[0][:1].upper() + words[0][1:], *words[1:]])


def _key(model: type[BaseModel], name: str) -> str:
    """Under which name pydantic lists a field."""
    alias = model.model_fields[name].validation_alias
    first = alias.choices[0] if isinstance(alias, AliasChoices) else alias
    return first if isinstance(first, str) else name


def sentence(error: ValidationError) -> str:
    """The first fault of a validation error as one short sentence; it names no secret."""
    fault = error.errors()[0]
    name = str(fault["loc"][0]) if fault["loc"] else "settings"
    value = (
        "a secret"
        if "key" in name.lower() or name in ("token", "mcp_search")
        else repr(fault.get("input"))[:80]
    )
    return f"{name} cannot be {value}: {fault['msg'][:200].removeprefix('Value error, ')}."

"""Convert Python docstrings to Markdown without running any code."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from spadework.tools.extract.markdown_writer import blocks, code_span, write_heading
from spadework.tools.extract.text.docstring_markup import docstring_markdown, words

Function = ast.FunctionDef | ast.AsyncFunctionDef
MAX_SIGNATURE = 120
#: Base classes that turn annotated attributes into constructor arguments.
_KINDS = {"NamedTuple": "tuple", "BaseModel": "model", "BaseSettings": "model"}


class _Field(NamedTuple):
    default: ast.expr | None
    keyword_only: bool


class _Record(NamedTuple):
    """A class's fields. `kind` is "dataclass", "tuple" or "model" (pydantic)."""

    kind: str
    fields: dict[str, _Field]


def signature(node: Function, *, method: bool) -> str:
    """Return a function's arguments with their defaults, as text. A long list ends with "…"."""
    given = node.args
    names = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(names) - len(given.defaults)) + list(given.defaults)
    parts = [_argument(name.arg, default) for name, default in zip(names, defaults, strict=True)]
    if given.posonlyargs:
        parts.insert(len(given.posonlyargs), "/")
    parts = parts[1:] if method and parts else parts
    parts += [f"*{given.vararg.arg}"] if given.vararg else ["*"] if given.kwonlyargs else []
    parts += [
        _argument(name.arg, default)
        for name, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return _joined([*parts, *([f"**{given.kwarg.arg}"] if given.kwarg else [])])


def field_signature(node: ast.ClassDef, classes: Mapping[str, ast.ClassDef]) -> str:
    """Return the constructor arguments of a dataclass, NamedTuple or pydantic model, or "" if
    there are none. Base classes are looked up in `classes`.
    """
    record = _record(node, classes, {})
    if record is None or not record.fields:
        return ""
    fields = record.fields.items()
    placed = [_argument(name, each.default) for name, each in fields if not each.keyword_only]
    named = [_argument(name, each.default) for name, each in fields if each.keyword_only]
    return _joined([*placed, *(["*"] if named else []), *named])


def _record(
    node: ast.ClassDef, classes: Mapping[str, ast.ClassDef], known: dict[str, _Record | None]
) -> _Record | None:
    if node.name not in known:
        known[node.name] = None
        known[node.name] = _make_record(node, classes, known)
    return known[node.name]


def _make_record(
    node: ast.ClassDef, classes: Mapping[str, ast.ClassDef], known: dict[str, _Record | None]
) -> _Record | None:
    bases = [_name(base) for base in node.bases]
    inside = [classes[base] for base in bases if base in classes]
    above = [record for base in inside if (record := _record(base, classes, known))]
    decorator = next((each for each in node.decorator_list if _name(each) == "dataclass"), None)
    direct = "dataclass" if decorator else next((_KINDS[b] for b in bases if b in _KINDS), "")
    kind = direct or next((record.kind for record in above), "")
    options = _options(decorator)
    if not kind or _is(options.get("init"), False):
        return None
    fields: dict[str, _Field] = {}
    for record in reversed(above):
        fields |= record.fields
    if direct or kind == "model":
        keyword_only = kind == "model" or _is(options.get("kw_only"), True)
        fields |= _own_fields(node, kind, keyword_only)
    return _Record(kind, fields)


def _own_fields(node: ast.ClassDef, kind: str, keyword_only: bool) -> dict[str, _Field]:
    fields = {}
    for each in node.body:
        if not isinstance(each, ast.AnnAssign) or not isinstance(each.target, ast.Name):
            continue
        name, annotation = each.target.id, _name(each.annotation)
        if annotation == "KW_ONLY":
            keyword_only = True
        elif (
            annotation != "ClassVar"
            and not (kind == "model" and name.startswith("_"))
            and (field := _field(each.value, keyword_only))
        ):
            fields[name] = field
    return fields


def _field(value: ast.expr | None, keyword_only: bool) -> _Field | None:
    if not isinstance(value, ast.Call) or _name(value) not in ("field", "Field"):
        return _Field(value, keyword_only)
    options = _options(value)
    default = options.get("default", value.args[0] if value.args else None)
    if factory := options.get("default_factory"):
        default = factory.body if isinstance(factory, ast.Lambda) else ast.Call(factory, [], [])
    if _is(options.get("init"), False):
        return None
    needed = default is None or _is(default, ...)
    return _Field(None if needed else default, keyword_only or _is(options.get("kw_only"), True))


def _options(call: ast.expr | None) -> dict[str, ast.expr]:
    given = call.keywords if isinstance(call, ast.Call) else []
    return {each.arg: each.value for each in given if each.arg}


def _is(value: ast.expr | None, constant: object) -> bool:
    return isinstance(value, ast.Constant) and value.value is constant


def _name(node: ast.expr) -> str:
    while isinstance(node, ast.Call | ast.Subscript):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _joined(parts: list[str]) -> str:
    while len(text := ", ".join(parts)) > MAX_SIGNATURE:
        parts = [*parts[:-2], "…"] if parts[-1] == "…" else [*parts[:-1], "…"]
    return f"({text})"


def _argument(name: str, default: ast.expr | None) -> str:
    if default is None:
        return name
    value = ast.unparse(default)
    return f"{name}={value if len(value) <= 30 else '…'}"


#: Minimum length of a docstring in characters. Shorter docstrings just repeat the name
#: (benchmarks/installed.py).
MIN_CHARS = 24
_CHANGES = frozenset(("setter", "deleter"))


@dataclass(frozen=True)
class ModuleText:
    """A module's documentation, with the public names that it documents, in source order."""

    markdown: str
    summary: str
    names: tuple[str, ...]


def module_markdown(
    tree: ast.Module, module: str, public: Mapping[str, str] | None = None
) -> ModuleText:
    """Return a module's documentation. `module` is its dotted name, and `public` maps names in the
    module to their public dotted names. In a private module, only the names in `public` are
    documented. Headings look like `## class pkg.Client` and `### Client.get`, with the call below,
    such as `Client.get(path)`.
    """
    public = public or {}
    private = any(part.startswith("_") for part in module.split("."))
    own = _docstring_of(tree) or _assigned_docstring(tree)
    parts, names = [], []
    found = _definitions(tree.body)
    classes = {name: node for name, node in found.items() if isinstance(node, ast.ClassDef)}
    for node in found.values():
        name = public.get(node.name) or (
            "" if private or node.name.startswith("_") else f"{module}.{node.name}"
        )
        if name and (
            text := _class(node, name, classes)
            if isinstance(node, ast.ClassDef)
            else _function(node, name, 2)
        ):
            parts.append(text)
            names.append(name)
    shown = own if parts or not private else ""
    values = [] if private else _values(tree.body, module, 2)
    body = blocks([docstring_markdown(shown, 2) if shown else "", *values, *parts])
    return ModuleText(body, _summary(shown, module), tuple(names))


def _definitions(body: list[ast.stmt]) -> dict[str, Function | ast.ClassDef]:
    found: dict[str, Function | ast.ClassDef] = {}
    for node in _flat(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known = found.get(node.name)
            changes = not _decorators(node).isdisjoint(_CHANGES)
            if not known or (_docstring_of(node) and not (changes and _docstring_of(known))):
                found[node.name] = node
    return found


def _decorators(node: Function | ast.ClassDef) -> set[str]:
    named = (each for each in node.decorator_list if isinstance(each, ast.Name | ast.Attribute))
    return {ast.unparse(each).split(".")[-1] for each in named}


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _flat(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            yield from _flat(node.body)


def _class(node: ast.ClassDef, name: str, classes: Mapping[str, ast.ClassDef]) -> str:
    members = _definitions(node.body).values()
    methods = [member for member in members if not isinstance(member, ast.ClassDef)]
    init = next((method for method in methods if method.name == "__init__"), None)
    texts = _docstring_of(node), _docstring_of(init) if init else ""
    own = blocks([docstring_markdown(text) for text in texts if text])
    inner = [
        text
        for method in methods
        if not method.name.startswith("_")
        if (text := _function(method, f"{node.name}.{method.name}", 3))
    ]
    if len(own) < MIN_CHARS and not inner:
        # Skip the class, because most undocumented classes are generated or documented elsewhere.
        return ""
    values = _values(node.body, node.name, 3)
    made = signature(init, method=True) if init else field_signature(node, classes)
    call = f"{name}{made}" if made else ""
    return blocks([entry(f"class {name}", call, own, 2), *values, *inner])


def _function(node: Function, name: str, level: int) -> str:
    text = _docstring_of(node)
    if len(text) < MIN_CHARS:
        return ""
    decorators, call = _decorators(node), ""
    if decorators.isdisjoint(("property", "cached_property", *_CHANGES)):
        kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
        made = signature(node, method=level > 2 and "staticmethod" not in decorators)
        call = f"{kind}{name}{made}"
    return entry(name, call, docstring_markdown(text, level + 1), level)


def entry(title: str, call: str, text: str, level: int) -> str:
    """Return the documentation of a name, in Markdown. `call` shows how to call it, or is "". It
    becomes a paragraph directly above `text`, so that the first sentence of `text` is always
    quoted with it.
    """
    return blocks([write_heading(title, level), code_span(call) if call else "", text])


def _values(body: list[ast.stmt], owner: str, level: int) -> list[str]:
    found = []
    for node, after in pairwise(body):
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if not isinstance(target, ast.Name) or target.id.startswith("_"):
            continue
        text = _string_of(after) if isinstance(after, ast.Expr) else ""
        if len(text) >= MIN_CHARS:
            title = write_heading(f"{owner}.{target.id}", level)
            found.append(blocks([title, docstring_markdown(text, level + 1)]))
    return found


def _string_of(node: ast.stmt) -> str:
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    said = value.value if isinstance(value, ast.Constant) else None
    return inspect.cleandoc(said) if isinstance(said, str) else ""


def _docstring_of(node: ast.Module | ast.ClassDef | Function) -> str:
    return ast.get_docstring(node) or ""


def _assigned_docstring(tree: ast.Module) -> str:
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__doc__":
            return _string_of(node)
    return ""


def _summary(text: str, module: str) -> str:
    for part in text.split("\n\n"):
        lines = [line.strip() for line in part.split("\n")]
        first = " ".join(words(line) for line in lines if re.search(r"\w", line)).replace("`", "")
        if (
            first
            and not first.startswith(("!!!", ".. "))
            and first.removesuffix(".py").split(".")[-1] != module.split(".")[-1]
        ):
            return first.partition(". ")[0].rstrip(".: ")
    return ""

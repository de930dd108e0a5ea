"""How functions and classes of a source are called: their arguments with defaults, as text."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import NamedTuple

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: A longer signature is cut: a heading is read at a glance.
MAX_SIGNATURE = 120
#: Classes whose annotations are the arguments of what derives from them.
_KINDS = {"NamedTuple": "tuple", "BaseModel": "model", "BaseSettings": "model"}


class _Field(NamedTuple):
    default: ast.expr | None
    keyword_only: bool


class _Record(NamedTuple):
    """A class made of fields: a "dataclass", a "tuple" or a "model" of pydantic."""

    kind: str
    fields: dict[str, _Field]


def signature(node: Function, *, method: bool) -> str:
    """The arguments with their defaults, without annotations; a long one ends with an ellipsis."""
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
    """The fields of a dataclass, NamedTuple or pydantic model as its arguments; "" for others.

    `classes` are those of its module by name: fields of bases among them are inherited.
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
    """A class with its fields. `known` are the records by class: each is made once, and one that is
    being made is no base.
    """
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
    """A field by the value it is given in its class; None for one that is no argument."""
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
    """The keyword arguments of a call; {} for what is none."""
    given = call.keywords if isinstance(call, ast.Call) else []
    return {each.arg: each.value for each in given if each.arg}


def _is(value: ast.expr | None, constant: object) -> bool:
    return isinstance(value, ast.Constant) and value.value is constant


def _name(node: ast.expr) -> str:
    """The last part of a name, also of one that is called or subscripted."""
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

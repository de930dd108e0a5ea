"""A Python module's docstrings as Markdown, read from its source with `ast`: nothing is run."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from spadework.tools.extract.writing import blocks, heading
from spadework.tools.library.docstring_markup import docstring_markdown
from spadework.tools.library.docstring_words import words

Function = ast.FunctionDef | ast.AsyncFunctionDef
#: A shorter docstring says no more than the name it describes (benchmarks/installed.py).
MIN_CHARS = 24
#: A longer signature is cut: a heading is read at a glance.
MAX_SIGNATURE = 120


@dataclass(frozen=True)
class ModuleText:
    """The documentation of one module; `names` are its public classes and functions, in order."""

    markdown: str
    summary: str
    names: tuple[str, ...]


def module_markdown(
    tree: ast.Module, module: str, public: Mapping[str, str] | None = None
) -> ModuleText:
    """The documentation of the module named `module` (dotted).

    `public` names what is documented under another dotted name, by its name in this module; when
    the module itself is private, only those names are documented. Headings are `## class
    pkg.Client(url, timeout=5)` and `### Client.get(path)`.
    """
    public = public or {}
    private = any(part.startswith("_") for part in module.split("."))
    own = _docstring(tree) or _assigned_docstring(tree)
    parts, names = [], []
    for node in _definitions(tree.body):
        name = public.get(node.name) or (
            "" if private or node.name.startswith("_") else f"{module}.{node.name}"
        )
        if name and (
            text := _class(node, name)
            if isinstance(node, ast.ClassDef)
            else _function(node, name, 2)
        ):
            parts.append(text)
            names.append(name)
    shown = own if parts or not private else ""
    values = [] if private else _values(tree.body, module, 2)
    body = blocks([docstring_markdown(shown, 2) if shown else "", *values, *parts])
    return ModuleText(body, _summary(shown, module), tuple(names))


def _definitions(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    """Classes and functions, also under `if` and `try`; of one name the last with a docstring."""
    found: dict[str, Function | ast.ClassDef] = {}
    for node in _flat(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and (
            node.name not in found or _docstring(node)
        ):
            found[node.name] = node
    return iter(found.values())


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _flat(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            yield from _flat(node.body)


def _class(node: ast.ClassDef, name: str) -> str:
    """A class with its public methods and documented attributes; "" without documentation."""
    members = list(_definitions(node.body))
    methods = [member for member in members if not isinstance(member, ast.ClassDef)]
    init = next((method for method in methods if method.name == "__init__"), None)
    texts = _docstring(node), _docstring(init) if init else ""
    own = blocks([docstring_markdown(text) for text in texts if text])
    inner = [
        text
        for method in methods
        if not method.name.startswith("_")
        if (text := _function(method, f"{node.name}.{method.name}", 3))
    ]
    if len(own) < MIN_CHARS and not inner:
        # attributes alone are mostly generated, and say what the functions that take them say too
        return ""
    values = _values(node.body, node.name, 3)
    signature = _signature(init, method=True) if init else ""
    return blocks([heading(f"class {name}{signature}", 2), own, *values, *inner])


def _function(node: Function, name: str, level: int) -> str:
    text = _docstring(node)
    if len(text) < MIN_CHARS:
        return ""
    names = (each for each in node.decorator_list if isinstance(each, ast.Name | ast.Attribute))
    decorators = {ast.unparse(each).split(".")[-1] for each in names}
    if not decorators & {"property", "cached_property"}:
        name += _signature(node, method=level > 2 and "staticmethod" not in decorators)
    kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return blocks([heading(f"{kind}{name}", level), docstring_markdown(text, level + 1)])


def _signature(node: Function, *, method: bool) -> str:
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
    parts += [f"**{given.kwarg.arg}"] if given.kwarg else []
    while len(text := ", ".join(parts)) > MAX_SIGNATURE:
        parts = [*parts[:-2], "…"] if parts[-1] == "…" else [*parts[:-1], "…"]
    return f"({text})"


def _argument(name: str, default: ast.expr | None) -> str:
    if default is None:
        return name
    value = ast.unparse(default)
    return f"{name}={value if len(value) <= 30 else '…'}"


def _values(body: list[ast.stmt], owner: str, level: int) -> list[str]:
    """Attributes and constants that a docstring follows."""
    found = []
    for node, after in pairwise(body):
        if not isinstance(node, ast.Assign | ast.AnnAssign):
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if not isinstance(target, ast.Name) or target.id.startswith("_"):
            continue
        text = _string(after) if isinstance(after, ast.Expr) else ""
        if len(text) >= MIN_CHARS:
            title = heading(f"{owner}.{target.id}", level)
            found.append(blocks([title, docstring_markdown(text, level + 1)]))
    return found


def _string(node: ast.stmt) -> str:
    """The text of a statement that is only a string, else ""."""
    value = node.value if isinstance(node, ast.Expr | ast.Assign) else None
    said = value.value if isinstance(value, ast.Constant) else None
    return inspect.cleandoc(said) if isinstance(said, str) else ""


def _docstring(node: ast.Module | ast.ClassDef | Function) -> str:
    return ast.get_docstring(node) or ""


def _assigned_docstring(tree: ast.Module) -> str:
    """The text of `__doc__ = "…"`."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__doc__":
            return _string(node)
    return ""


def _summary(text: str, module: str) -> str:
    """The first sentence, on one line; a paragraph that only names the module is passed over."""
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

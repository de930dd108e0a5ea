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
from spadework.tools.library.docstring_syntax import words
from spadework.tools.library.signatures import Function, field_signature, signature

#: A shorter docstring says no more than the name it describes (benchmarks/installed.py).
MIN_CHARS = 24
#: How the functions are decorated that set and delete a property.
_CHANGES = frozenset(("setter", "deleter"))


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
    """Classes and functions, also under `if` and `try`; of one name the last with a docstring, but
    for what sets or deletes a property: how it is read says more.
    """
    found: dict[str, Function | ast.ClassDef] = {}
    for node in _flat(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            known = found.get(node.name)
            changes = not _decorators(node).isdisjoint(_CHANGES)
            if not known or (_docstring(node) and not (changes and _docstring(known))):
                found[node.name] = node
    return found


def _decorators(node: Function | ast.ClassDef) -> set[str]:
    """The last parts of the names of decorators that are not called."""
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
    """A class with its public methods and documented attributes; "" without documentation."""
    members = _definitions(node.body).values()
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
    made = signature(init, method=True) if init else field_signature(node, classes)
    return blocks([heading(f"class {name}{made}", 2), own, *values, *inner])


def _function(node: Function, name: str, level: int) -> str:
    text = _docstring(node)
    if len(text) < MIN_CHARS:
        return ""
    decorators = _decorators(node)
    if decorators.isdisjoint(("property", "cached_property", *_CHANGES)):
        name += signature(node, method=level > 2 and "staticmethod" not in decorators)
    kind = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    return blocks([heading(f"{kind}{name}", level), docstring_markdown(text, level + 1)])


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

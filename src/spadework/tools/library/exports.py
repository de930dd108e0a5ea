"""Which names a package offers to the public, and under which dotted name, found from its sources
alone.

A class defined in `pkg/_client.py` and imported by `pkg/__init__.py` is public as `pkg.Client`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

#: How many modules a name may be passed on through before it is given up.
_MAX_HOPS = 5


@dataclass
class Module:
    """What a module defines and passes on: `imports` are name → (module, name), `stars` whole."""

    name: str
    tree: ast.Module
    is_package: bool
    listed: frozenset[str] | None = None
    defined: frozenset[str] = frozenset()
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    @property
    def private(self) -> bool:
        """Whether the module is not meant to be imported by others."""
        return is_private(self.name)


def is_private(name: str) -> bool:
    """True when a part of a dotted name begins with an underscore."""
    return any(part.startswith("_") for part in name.split("."))


def survey(name: str, tree: ast.Module, is_package: bool) -> Module:
    """The names of one module."""
    module = Module(name, tree, is_package)
    defined = set()
    for node in _statements(tree.body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.ImportFrom):
            _note_import(module, node)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            _note_all(module, node)
    module.defined = frozenset(defined)
    return module


class Modules(Protocol):
    """The modules of a package by dotted name; private ones are read only when asked for."""

    def public(self) -> Iterable[Module]:
        """Every module whose dotted name has no underscore."""
        ...

    def get(self, name: str) -> Module | None:
        """A module, or None when it is not of this package."""
        ...


def public_names(modules: Modules) -> dict[tuple[str, str], str]:
    """For every class or function a public module passes on: (module that defines it, name) → the
    shortest public dotted name.
    """
    found: dict[tuple[str, str], str] = {}
    for module in modules.public():
        for name in _passed_on(module, modules):
            place = _origin(modules, module.name, name)
            public = f"{module.name}.{name}"
            if (
                place
                and place[0] != module.name
                and len(public) < len(found.get(place, public + "…"))
            ):
                found[place] = public
    return found


def _passed_on(module: Module, modules: Modules) -> Iterator[str]:
    """The public names from elsewhere. Without `__all__`, only a package passes imports on."""
    if module.listed is not None:
        yield from module.listed - module.defined
        return
    if module.is_package:
        yield from (name for name in module.imports if not name.startswith("_"))
        for star in module.stars:
            if other := modules.get(star):
                yield from (
                    name for name in other.listed or other.defined if not name.startswith("_")
                )


def _origin(modules: Modules, where: str, name: str, hops: int = 0) -> tuple[str, str] | None:
    """The module that defines what `where.name` is, None when it is outside the package."""
    module = modules.get(where)
    if module is None or hops > _MAX_HOPS:
        return None
    if name in module.defined:
        return where, name
    if name in module.imports:
        return _origin(modules, *module.imports[name], hops + 1)
    found = (_origin(modules, star, name, hops + 1) for star in module.stars)
    return next((place for place in found if place), None)


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a module, also those under `if` and `try`."""
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _statements(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            yield from _statements(
                node.body
                + node.orelse
                + [inner for handler in node.handlers for inner in handler.body]
            )


def _note_import(module: Module, node: ast.ImportFrom) -> None:
    base = module.name.split(".") if module.is_package else module.name.split(".")[:-1]
    start = base[: len(base) - node.level + 1] if node.level else []
    source = ".".join([*start, *([node.module] if node.module else [])])
    for alias in node.names:
        if alias.name == "*":
            module.stars.append(source)
        else:
            module.imports.setdefault(alias.asname or alias.name, (source, alias.name))


def _note_all(module: Module, node: ast.Assign | ast.AnnAssign | ast.AugAssign) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if (
        not any(isinstance(target, ast.Name) and target.id == "__all__" for target in targets)
        or node.value is None
    ):
        return
    parts = list(ast.walk(node.value))
    if any(isinstance(part, ast.Name | ast.Attribute) for part in parts):
        # built from the lists of other modules: what they offer is found through the imports
        # themselves
        return
    names = {
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    module.listed = (module.listed or frozenset()) | names

"""Read a package's Python sources on demand, and find its public names. If `pkg/__init__.py`
imports the class `Client` from `pkg/_client.py`, the class is public as `pkg.Client`.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

#: Maximum length of a source file in characters. A longer file is skipped, because it is probably
#: generated.
MAX_CHARS = 2_000_000


@dataclass
class Module:
    """A module, with the names that it defines and re-exports.
    - `imports`: maps each imported name to the (module, name) that it was imported from.
    - `stars`: modules imported with `*`.
    """

    name: str
    tree: ast.Module
    is_package: bool
    listed: frozenset[str] | None = None
    defined: frozenset[str] = frozenset()
    imports: dict[str, tuple[str, str]] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    @property
    def private(self) -> bool:
        """True if any part of the name starts with an underscore."""
        return is_private(self.name)


def is_private(name: str) -> bool:
    """Return whether any part of a dotted name starts with an underscore."""
    return any(part.startswith("_") for part in name.split("."))


def survey(name: str, tree: ast.Module, is_package: bool) -> Module:
    """Collect the names that a module defines and imports."""
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


class Sources:
    """A package's modules by dotted name. Stub files (.pyi) replace missing Python sources."""

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        self.root = root
        self.files: dict[str, str] = {}
        self._read: dict[str, Module | None] = {}
        for file in sorted(files, key=lambda file: (file.endswith(".pyi"), file)):
            path = PurePosixPath(file)
            name = ".".join(
                (path.parent if path.stem == "__init__" else path.with_suffix("")).parts
            )
            if path.suffix in (".py", ".pyi") and name:
                self.files.setdefault(name, file)

    def public(self) -> Iterator[Module]:
        """Yield every public module, sorted by name."""
        for name in sorted(self.files):
            if not is_private(name) and (module := self.get(name)):
                yield module

    def get(self, name: str) -> Module | None:
        """Return a module, or None if it is missing, unparsable or undocumented."""
        if name not in self._read:
            file = self.files.get(name)
            self._read[name] = self._survey(name, file) if file else None
        return self._read[name]

    def _survey(self, name: str, file: str) -> Module | None:
        is_package = PurePosixPath(file).stem == "__init__"
        source = text_of(self.root / file)
        if (
            not source
            or len(source) > MAX_CHARS
            or not (is_package or '"""' in source or "'''" in source)
        ):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return survey(name, ast.parse(source), is_package)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # a template, or code for another Python version


def text_of(path: Path) -> str:
    """Return a file's text, or "" if it is unreadable or not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If):
            yield from _statements(node.body + node.orelse)
        elif isinstance(node, ast.Try):
            handled = [inner for handler in node.handlers for inner in handler.body]
            yield from _statements(node.body + node.orelse + handled)


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
        # Ignore an `__all__` that is built from another module's `__all__`, because those names are
        # found through the imports.
        return
    constants = {part.value for part in parts if isinstance(part, ast.Constant)}
    names = {value for value in constants if isinstance(value, str)}
    module.listed = (module.listed or frozenset()) | names


_MAX_HOPS = 5


def public_names(sources: Sources) -> dict[tuple[str, str], str]:
    """Map the (module, name) of each re-exported definition to its shortest public name."""
    found: dict[tuple[str, str], str] = {}
    for module in sources.public():
        for name in _passed_on(module, sources):
            place = _origin(sources, module.name, name)
            public = f"{module.name}.{name}"
            if not place or place[0] == module.name:
                continue
            found[place] = min(found.get(place, public), public, key=len)
    return found


def _passed_on(module: Module, sources: Sources) -> Iterator[str]:
    if module.listed is not None:
        yield from module.listed - module.defined
        return
    if module.is_package:
        yield from (name for name in module.imports if not name.startswith("_"))
        for star in module.stars:
            if other := sources.get(star):
                yield from (
                    name for name in other.listed or other.defined if not name.startswith("_")
                )


def _origin(sources: Sources, where: str, name: str, hops: int = 0) -> tuple[str, str] | None:
    """Return the (module, name) that defines `where.name`, or None if it is outside the package."""
    module = sources.get(where)
    if module is None or hops > _MAX_HOPS:
        return None
    if name in module.defined:
        return where, name
    if name in module.imports:
        return _origin(sources, *module.imports[name], hops + 1)
    found = (_origin(sources, star, name, hops + 1) for star in module.stars)
    return next((place for place in found if place), None)


_FENCE = re.compile(r"^[ \t]*```(?:python|py|pycon|python3)?\n(.*?)^[ \t]*```", re.M | re.S)
_IMPORT = re.compile(r"from +([\w.]+) +import +(?:\(([^)]*)\)|([^\n(]*))")
_DOTTED = re.compile(r"(?<![\w.])[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
_DEFINED = re.compile(r"^## (?:class |async )?([A-Za-z_]\w*(?:\.\w+)+)", re.M)


def used_names(markdown: str) -> frozenset[str]:
    """Return the dotted names used by Python code in a document."""
    return frozenset(
        name
        for match in _FENCE.finditer(markdown)
        for name in _names(match[1].replace(">>> ", "").replace("... ", ""))
    )


def _names(code: str) -> Iterator[str]:
    yield from _DOTTED.findall(code)
    for module, several, names in _IMPORT.findall(code):
        yield from (
            f"{module}.{name.split()[0]}" for name in (several or names).split(",") if name.split()
        )


def defined_names(markdown: str) -> list[str]:
    """Return the dotted names that a document's level-2 headings define."""
    return _DEFINED.findall(markdown)


def count_uses(
    documents: Iterable[tuple[int, Sequence[str], frozenset[str]]],
) -> Iterator[tuple[int, int]]:
    """Yield (uses, document number) for each document that defines names used by other documents.
    Documents are given as (document number, defined names, used names).
    """
    users: Counter[str] = Counter()
    defining = []
    for number, defined, used in documents:
        users.update(used)
        defining += [(number, defined, used)] if defined else []
    for number, defined, used in defining:
        if count := sum(users[name] - (name in used) for name in defined):
            yield count, number
